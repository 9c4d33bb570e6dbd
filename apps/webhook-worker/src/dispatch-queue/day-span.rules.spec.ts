import { mergeSpans, mergeIfKnown, singleDay } from './day-span.rules.js';

const [monday, tuesday, sunday] = [singleDay('2026-11-16'), singleDay('2026-11-17'), singleDay('2026-11-22')];

describe('a span of days', () => {
  it('contains the days of both merged spans, in any order, across months and years', () => {
    const expected = { from: '2026-11-16', to: '2026-11-22', more: false };
    expect(mergeSpans(mergeSpans(tuesday, monday), sunday)).toEqual(expected);
    expect(mergeSpans(sunday, mergeSpans(monday, tuesday))).toEqual(expected);
    expect(mergeSpans(singleDay('2027-01-01'), singleDay('2026-12-31'))).toMatchObject({
      from: '2026-12-31',
      to: '2027-01-01',
    });
  });

  it('stays incomplete when it is merged with a complete one', () => {
    expect(mergeSpans(monday, { ...tuesday, more: true }).more).toBe(true);
    expect(mergeSpans({ ...monday, more: true }, tuesday).more).toBe(true);
  });

  it('is unknown when one of the merged spans is unknown', () => {
    expect(mergeIfKnown(undefined, monday)).toBeUndefined();
    expect(mergeIfKnown(monday, undefined)).toBeUndefined();
    expect(mergeIfKnown(monday, sunday)).toEqual(mergeSpans(monday, sunday));
  });
});
