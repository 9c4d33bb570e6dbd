import { retryAfterMs, retryDelayMs } from './retry.rules.js';

const now = new Date('2026-11-20T12:00:00Z');
const middle = { chance: 0.5, now };
const failed = { outcome: 'http_error', statusCode: 500, headers: {} } as const;
const schedule = [0, 5_000, 30_000, 120_000, 3_600_000];

describe('the delay before the next attempt', () => {
  it('follows the schedule and ends with it', () => {
    expect(retryDelayMs(failed, 1, schedule, middle)).toBe(5_000);
    expect(retryDelayMs(failed, 4, schedule, middle)).toBe(3_600_000);
    expect(retryDelayMs(failed, 5, schedule, middle)).toBeUndefined();
    expect(retryDelayMs(failed, 1, [0, 0], middle)).toBe(0);
  });

  it('is spread by 15 % either way, in whole milliseconds', () => {
    expect(retryDelayMs(failed, 2, schedule, { chance: 0, now })).toBe(25_500);
    expect(retryDelayMs(failed, 2, schedule, { chance: 1, now })).toBe(34_500);
    expect(retryDelayMs(failed, 1, [0, 3], { chance: 0, now })).toBe(3);
  });

  it('is at least a minute after a timeout or a 429, or the longest step of a shorter schedule', () => {
    expect(retryDelayMs({ ...failed, outcome: 'timeout', statusCode: undefined }, 1, schedule, middle)).toBe(
      60_000,
    );
    expect(retryDelayMs({ ...failed, statusCode: 429 }, 1, schedule, middle)).toBe(60_000);
    expect(retryDelayMs({ ...failed, statusCode: 429 }, 1, [0, 400, 800], middle)).toBe(800);
  });

  it('is the time in Retry-After if that is longer, up to a day', () => {
    expect(
      retryDelayMs({ ...failed, statusCode: 503, headers: { 'retry-after': '90' } }, 1, schedule, middle),
    ).toBe(90_000);
    expect(retryDelayMs({ ...failed, headers: { 'retry-after': '1' } }, 2, schedule, middle)).toBe(30_000);
    expect(retryDelayMs({ ...failed, headers: { 'retry-after': '999999999' } }, 1, schedule, middle)).toBe(
      86_400_000,
    );
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 120 ', 120_000],
    ['Fri, 20 Nov 2026 12:01:00 GMT', 60_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['10000000000', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['soon', 0],
    ['-5', 0],
    ['', 0],
  ])('%j is %i ms', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
