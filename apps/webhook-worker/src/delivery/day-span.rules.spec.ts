import { cover, coverIfKnown, oneDay } from './day-span.rules.js';

const [monday, tuesday, sunday] = [oneDay('2026-11-16'), oneDay('2026-11-17'), oneDay('2026-11-22')];

describe('a span of days', () => {
  it('covers the days of both, in whichever order they come, over a change of month or year', () => {
    const expected = { from: '2026-11-16', to: '2026-11-22', more: false };
    expect(cover(cover(tuesday, monday), sunday)).toEqual(expected);
    expect(cover(sunday, cover(monday, tuesday))).toEqual(expected);
    expect(cover(oneDay('2027-01-01'), oneDay('2026-12-31'))).toMatchObject({
      from: '2026-12-31',
      to: '2027-01-01',
    });
  });

  it('that leaves something out leaves it out with others', () => {
    expect(cover(monday, { ...tuesday, more: true }).more).toBe(true);
    expect(cover({ ...monday, more: true }, tuesday).more).toBe(true);
  });

  it('is not known when one of two is not', () => {
    expect(coverIfKnown(undefined, monday)).toBeUndefined();
    expect(coverIfKnown(monday, undefined)).toBeUndefined();
    expect(coverIfKnown(monday, sunday)).toEqual(cover(monday, sunday));
  });
});
