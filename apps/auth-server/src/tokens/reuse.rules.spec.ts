import { describe, expect, it } from '@jest/globals';
import { arrival, isRace, judgeByTime, raceAtMostMs } from './reuse.rules.js';

const consumedAtMs = 1_000_000;
const at = (ms: number) => arrival(ms, undefined);

describe('a request was decided on', () => {
  it.each([
    ['as its connection was opened, when it is the first on it', '0.032', 970],
    ['as it arrived, when its connection is younger than clocks can tell', '0.001', 1_000],
    ['as it arrived, when its connection had been open for long', '1.001', 1_000],
    ['as it arrived, on a connection that has served before', undefined, 1_000],
    ['as it arrived, whatever else stands there', '1e1', 1_000],
    ['as it arrived, not later', '-1', 1_000],
  ])('%s', (_, age, decidedAtMs) => {
    expect(arrival(1_000, age)).toEqual({ arrivedAtMs: 1_000, decidedAtMs });
  });
});

describe('a token that comes a second time', () => {
  it.each([
    ['before it was consumed', -1, 'race'],
    ['as it was consumed', 0, 'ask'],
    ['while the winner may still be answered', raceAtMostMs, 'ask'],
    ['later', raceAtMostMs + 1, 'replay'],
  ])('%s', (_, after, verdict) => {
    expect(judgeByTime(at(consumedAtMs + after), consumedAtMs)).toBe(verdict);
  });

  it('was sent at once only if it was there before the winner’s answer left, or decided on before that was written', () => {
    const answered = { writtenAtMs: 1_010, leftAtMs: 1_020 };
    expect(isRace(at(1_019), answered)).toBe(true);
    expect(isRace(at(1_020), answered)).toBe(false);
    expect(isRace(at(1_019), undefined)).toBe(false);
    expect(isRace(arrival(1_050, '0.043'), answered)).toBe(true);
    expect(isRace(arrival(1_050, '0.042'), answered)).toBe(false); // the answer may have been read by then
  });
});
