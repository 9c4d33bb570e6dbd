import { describe, expect, it } from '@jest/globals';
import { decidedAtMs, isRace, judgeByTime, raceAtMostMs } from './reuse.rules.js';

const consumedAtMs = 1_000_000;

describe('a request', () => {
  it.each([
    ['as its connection was opened, when it is the first on it', '0.030', 970],
    ['as it arrived, when its connection had been open for long', '1.001', 1_000],
    ['as it arrived, on a connection that has served before', undefined, 1_000],
    ['as it arrived, whatever else stands there', '1e1', 1_000],
    ['as it arrived, not later', '-1', 1_000],
  ])('was decided on %s', (_, age, decided) => {
    expect(decidedAtMs(1_000, age)).toBe(decided);
  });
});

describe('a token that comes a second time', () => {
  it.each([
    ['before it was consumed', -1, 'race'],
    ['as it was consumed', 0, 'ask'],
    ['while the winner may still be answered', raceAtMostMs, 'ask'],
    ['later', raceAtMostMs + 1, 'replay'],
  ])('%s', (_, after, verdict) => {
    expect(judgeByTime({ decidedAtMs: consumedAtMs + after, consumedAtMs })).toBe(verdict);
  });

  it('was sent at once only if it was there before the winner’s answer left', () => {
    expect(isRace(1_019, 1_020)).toBe(true);
    expect(isRace(1_020, 1_020)).toBe(false);
    expect(isRace(1_019, undefined)).toBe(false);
  });
});
