import {
  delayDecision,
  type GuessCount,
  isStricter,
  limitDecision,
  networkLimit,
} from './guess-limits.rules.js';

const count = (changes: Partial<GuessCount>): GuessCount => ({
  failed: 0,
  trying: 0,
  secondsSinceFailure: Infinity,
  secondsLeft: 100,
  ...changes,
});
const quota = { requests: 10, windowSeconds: 900 };

describe('limitDecision', () => {
  it.each([
    ['free without a failure', {}, { kind: 'free' }],
    ['free below the limit', { failed: 9 }, { kind: 'free' }],
    ['wait when a guess in progress may reach the limit', { failed: 9, trying: 1 }, { kind: 'wait' }],
    ['wait when guesses in progress alone may reach the limit', { trying: 10 }, { kind: 'wait' }],
    [
      'locked for the rest of the window',
      { failed: 10, secondsLeft: 33.2 },
      { kind: 'locked', waitSeconds: 34 },
    ],
    ['locked for at least a second', { failed: 10, secondsLeft: -1 }, { kind: 'locked', waitSeconds: 1 }],
  ])('with a limit of 10 is %s', (_, counts, decision) => {
    expect(limitDecision(count(counts), 10)).toEqual(decision);
  });
});

describe('delayDecision', () => {
  it('doubles the delay after the allowed failures, up to the average pace of the quota', () => {
    const delays = [10, 11, 12, 13, 16, 17, 40, 4000].map((failed) =>
      delayDecision(count({ failed, secondsSinceFailure: 0 }), quota),
    );
    const seconds = delays.map((decision) => (decision.kind === 'locked' ? decision.waitSeconds : 0));
    expect(seconds).toEqual([1, 2, 4, 8, 64, 90, 90, 90]);
  });

  it('is free while failures and guesses in progress are below the allowed failures', () => {
    expect(delayDecision(count({ failed: 8, trying: 1 }), quota)).toEqual({ kind: 'free' });
  });

  it('counts the delay from the last failure', () => {
    const decision = delayDecision(count({ failed: 13, secondsSinceFailure: 5 }), quota);
    expect(decision).toEqual({ kind: 'locked', waitSeconds: 3 }); // of eight seconds
  });

  it('lets one guess at a time through once the delay is over', () => {
    const delayed = { failed: 12, secondsSinceFailure: 4 }; // after the delay of four seconds
    expect(delayDecision(count(delayed), quota)).toEqual({ kind: 'free' });
    expect(delayDecision(count({ ...delayed, trying: 1 }), quota)).toEqual({ kind: 'wait' });
  });

  it('waits for guesses in progress that may use up the allowed failures', () => {
    const counts = count({ failed: 5, trying: 5, secondsSinceFailure: 0 });
    expect(delayDecision(counts, quota)).toEqual({ kind: 'wait' });
  });
});

it('isStricter compares locks by their length, above a wait, above free', () => {
  const locked = (waitSeconds: number) => ({ kind: 'locked', waitSeconds }) as const;
  const ascending = [{ kind: 'free' }, { kind: 'wait' }, locked(1), locked(7)] as const;
  for (const [index, decision] of ascending.entries())
    for (const [otherIndex, other] of ascending.entries())
      expect(isStricter(decision, other)).toBe(index > otherIndex);
});

it('networkLimit grows with the accounts that sign in from the network', () => {
  expect(networkLimit(quota, { factor: 1, recentAccounts: 0 })).toBe(10);
  expect(networkLimit(quota, { factor: 4, recentAccounts: 0 })).toBe(40);
  expect(networkLimit(quota, { factor: 1, recentAccounts: 30 })).toBe(310);
});
