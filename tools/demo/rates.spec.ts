import { demoRates } from './rates.ts';

const ratesByDate = (today: string): Map<string, string> =>
  new Map(
    demoRates(new Date(today))
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => [line.slice(0, 10), line]),
  );

describe('the demo rates', () => {
  it('begin 90 days before today and end 30 days after it, newest first', () => {
    const dates = [...ratesByDate('2026-11-21T09:30:00Z').keys()];
    expect([dates.length, dates[0], dates[30], dates.at(-1)]).toEqual([
      121,
      '2026-12-21',
      '2026-11-21',
      '2026-08-23',
    ]);
  });

  it('of a date do not depend on the time at which they are made', () => {
    const first = ratesByDate('2026-11-21T00:00:00Z');
    expect(ratesByDate('2026-11-21T23:59:59Z')).toEqual(first);
    expect(ratesByDate('2026-11-28T12:00:00Z').get('2026-11-21')).toBe(first.get('2026-11-21'));
  });
});
