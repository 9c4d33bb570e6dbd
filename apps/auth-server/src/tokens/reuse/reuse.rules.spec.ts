import { classifyReuse, computeArrival, isRace, maxRaceMs } from './reuse.rules.js';

const consumedAtMs = 1_000_000;
const at = (ms: number) => computeArrival(ms, undefined);

describe('computeArrival: the sender decided on a request', () => {
  it.each([
    // The clocks are exact to 2 ms.
    ['when its connection was opened, if it is the first request on it', '0.032', 970],
    ['when it arrived, if the connection is younger than the resolution of the clocks', '0.001', 1_000],
    ['when it arrived, if the connection was open for more than a second', '1.001', 1_000],
    ['when it arrived, if the connection served an earlier request', undefined, 1_000],
    ['when its connection was opened, if that was a second ago', '1.000', 2],
    ['when it arrived, if the connection age has an exponent', '1e-1', 1_000],
    ['when it arrived, if the connection age begins with a space', ' 0.032', 1_000],
    ['when it arrived, if the connection age has more than three decimals', '0.0321', 1_000],
    ['when it arrived, if the connection age is negative', '-1', 1_000],
  ])('%s', (_, age, decidedAtMs) => {
    expect(computeArrival(1_000, age)).toEqual({ arrivedAtMs: 1_000, decidedAtMs });
  });
});

describe('the second use of a token', () => {
  it.each([
    ['before the first consumed it is a race', -1, 'race'],
    ['when the first consumed it is undecided', 0, 'undecided'],
    ['while the response to the first may still be in transit is undecided', maxRaceMs, 'undecided'],
    ['later is a replay', maxRaceMs + 1, 'replay'],
  ])('%s', (_, after, kind) => {
    expect(classifyReuse(at(consumedAtMs + after), consumedAtMs)).toBe(kind);
  });

  it('is a race only if it arrived before the winner’s response was sent, or was decided on before that started', () => {
    const response = { startedAtMs: 1_010, sentAtMs: 1_020 };
    expect(isRace(at(1_019), response)).toBe(true);
    expect(isRace(at(1_020), response)).toBe(false);
    expect(isRace(at(1_019), undefined)).toBe(false);
    // Decided 43 ms before the arrival, with a clock error of 2 ms: at 1009 at the latest.
    expect(isRace(computeArrival(1_050, '0.043'), response)).toBe(true);
    // At 1010 at the latest: the client may have read the start of the response.
    expect(isRace(computeArrival(1_050, '0.042'), response)).toBe(false);
  });
});
