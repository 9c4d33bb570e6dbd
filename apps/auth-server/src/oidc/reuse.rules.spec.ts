import { describe, expect, it } from '@jest/globals';
import { isRace, judgeByTime, raceAtMostMs } from './reuse.rules.js';

const consumedAtMs = 1_000_000;

describe('a token that comes a second time', () => {
  it.each([
    ['before it was consumed', -1, 'race'],
    ['as it was consumed', 0, 'ask'],
    ['while the winner may still be answered', raceAtMostMs, 'ask'],
    ['later', raceAtMostMs + 1, 'replay'],
  ])('%s', (_, after, verdict) => {
    expect(judgeByTime({ arrivedAtMs: consumedAtMs + after, consumedAtMs })).toBe(verdict);
  });

  it('was sent at once only if it was there before the winner’s answer left', () => {
    expect(isRace(1_019, 1_020)).toBe(true);
    expect(isRace(1_020, 1_020)).toBe(false);
    expect(isRace(1_019, undefined)).toBe(false);
  });
});
