import { parseTime } from './time-argument.js';

const now = new Date('2026-03-01T12:00:00Z');

describe('a time argument', () => {
  it.each([
    ['90s', '2026-03-01T11:58:30.000Z'],
    ['30m', '2026-03-01T11:30:00.000Z'],
    ['2h', '2026-03-01T10:00:00.000Z'],
    ['7d', '2026-02-22T12:00:00.000Z'],
    ['2026-02-03', '2026-02-03T00:00:00.000Z'],
    ['2026-02-03T04:05', '2026-02-03T04:05:00.000Z'],
    ['2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03T04:05:06.789+02:00', '2026-02-03T02:05:06.789Z'],
  ])('%s means %s', (typed, moment) => {
    expect(parseTime(typed, now)?.toISOString()).toBe(moment);
  });

  it.each([
    '',
    'yesterday',
    '2',
    '2w',
    '-2h',
    '2026',
    '2026-13-01',
    '2026-02-30',
    '2026-04-31T00:00Z',
    '2026-02-03 04:05',
    '1 h',
  ])('"%s" is rejected', (typed) => {
    expect(parseTime(typed, now)).toBeUndefined();
  });
});
