import type { Quota } from '@fulfilment/http-service';

/** The counts of one subject. */
export interface GuessCount {
  readonly failed: number;
  /** Guesses in progress. */
  readonly trying: number;
  /** Infinity when none failed. */
  readonly secondsSinceFailure: number;
  /** Seconds until the failures expire. */
  readonly secondsLeft: number;
}

/** Whether the next guess may start: now, after the result of an earlier one, or after a delay. */
export type GuessDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'locked'; readonly waitSeconds: number };

const free: GuessDecision = { kind: 'free' };
const wait: GuessDecision = { kind: 'wait' };
const locked = (seconds: number): GuessDecision => ({
  kind: 'locked',
  waitSeconds: Math.max(1, Math.ceil(seconds)),
});

/** Allows at most `limit` failures in a window; then it allows no guess until the window is over. */
export function limitDecision({ failed, trying, secondsLeft }: GuessCount, limit: number): GuessDecision {
  if (failed >= limit) return locked(secondsLeft);
  return failed + trying >= limit ? wait : free;
}

/**
 * After the allowed failures, allows one guess at a time, with a delay that doubles until guesses have the
 * average rate of the quota. So attackers get no more guesses from many networks than from one, and the
 * account's owner is never locked out for long.
 */
export function delayDecision(count: GuessCount, { requests, windowSeconds }: Quota): GuessDecision {
  const { failed, trying, secondsSinceFailure } = count;
  if (failed < requests) return failed + trying >= requests ? wait : free;
  const delaySeconds = Math.min(2 ** (failed - requests), windowSeconds / requests);
  if (secondsSinceFailure < delaySeconds) return locked(delaySeconds - secondsSinceFailure);
  return trying > 0 ? wait : free;
}

/** Whether a decision is stricter than another: free is the least strict, then wait, then the longer lock. */
export function isStricter(decision: GuessDecision, other: GuessDecision): boolean {
  return strictness(decision) > strictness(other);
}

function strictness(decision: GuessDecision): number {
  if (decision.kind === 'locked') return decision.waitSeconds;
  return decision.kind === 'wait' ? 0 : -1;
}

/**
 * Returns the failures allowed for one network: its quota once, and once more for each account that signed in
 * from it within a day, since a network with several accounts is an office.
 * @param network `factor`: 1, or more for a wider network (guess-target.rules.ts)
 */
export function networkLimit(
  { requests }: Quota,
  { factor, recentAccounts }: { readonly factor: number; readonly recentAccounts: number },
): number {
  return requests * factor * (1 + recentAccounts);
}
