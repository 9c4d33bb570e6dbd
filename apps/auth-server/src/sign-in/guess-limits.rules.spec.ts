import { describe, expect, it } from '@jest/globals';
import { delayDecision, limitDecision, networkLimit, isStricter } from './guess-limits.rules.js';

const count = (failed: number, trying = 0, secondsSinceFailure = Infinity, secondsLeft = 100) => ({
  failed,
  trying,
  secondsSinceFailure,
  secondsLeft,
});
const quota = { requests: 10, windowSeconds: 900 };

describe('limitDecision', () => {
  it.each([
    ['free without a failure', count(0), { kind: 'free' }],
    ['free below the limit', count(9), { kind: 'free' }],
    ['wait when a guess in progress may reach the limit', count(9, 1), { kind: 'wait' }],
    ['wait when guesses in progress alone may reach the limit', count(0, 10), { kind: 'wait' }],
    ['locked for the rest of the window', count(10, 0, 1, 33.2), { kind: 'locked', waitSeconds: 34 }],
    ['locked for at least a second', count(10, 0, 1, -1), { kind: 'locked', waitSeconds: 1 }],
  ])('with a limit of 10 is %s', (_, counts, decision) => {
    expect(limitDecision(counts, 10)).toEqual(decision);
  });
});

describe('delayDecision', () => {
  it('doubles the delay after the allowed failures, up to the average pace of the quota', () => {
    const delays = [10, 11, 12, 13, 16, 17, 40, 4000].map((failed) =>
      delayDecision(count(failed, 0, 0), quota),
    );
    const seconds = delays.map((decision) => (decision.kind === 'locked' ? decision.waitSeconds : 0));
    expect(seconds).toEqual([1, 2, 4, 8, 64, 90, 90, 90]);
  });

  it('lets one guess at a time through once the delay is over', () => {
    expect(delayDecision(count(12, 0, 4), quota)).toEqual({ kind: 'free' });
    expect(delayDecision(count(12, 1, 4), quota)).toEqual({ kind: 'wait' });
    expect(delayDecision(count(5, 5, 0), quota)).toEqual({ kind: 'wait' });
  });
});

it('isStricter compares locks by their length, above a wait, above free', () => {
  const locked = (waitSeconds: number) => ({ kind: 'locked', waitSeconds }) as const;
  const ascending = [{ kind: 'free' }, { kind: 'wait' }, locked(2), locked(7)] as const;
  for (const [index, decision] of ascending.entries())
    for (const [otherIndex, other] of ascending.entries())
      expect(isStricter(decision, other)).toBe(index > otherIndex);
});

it('networkLimit grows with the accounts that sign in from the network', () => {
  expect([networkLimit(quota, 1, 0), networkLimit(quota, 4, 0), networkLimit(quota, 1, 30)]).toEqual([
    10, 40, 310,
  ]);
});
