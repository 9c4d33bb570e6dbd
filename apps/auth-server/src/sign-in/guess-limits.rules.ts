import type { Quota } from '@fulfilment/http-service';

/** What was counted for one subject. */
export interface GuessCount {
  readonly failed: number;
  /** Guesses that were started and have no outcome yet. */
  readonly trying: number;
  /** Infinity when none failed. */
  readonly secondsSinceFailure: number;
  /** Until the failures expire. */
  readonly secondsLeft: number;
}

/** Whether the next guess may start: now, once an earlier one has its outcome, or after a time. */
export type Verdict =
  | { readonly kind: 'free' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'locked'; readonly waitSeconds: number };

const free: Verdict = { kind: 'free' };
const wait: Verdict = { kind: 'wait' };
const locked = (seconds: number): Verdict => ({
  kind: 'locked',
  waitSeconds: Math.max(1, Math.ceil(seconds)),
});

/** At most `limit` failures in a window, then none until the window is over. */
export function limitVerdict({ failed, trying, secondsLeft }: GuessCount, limit: number): Verdict {
  if (failed >= limit) return locked(secondsLeft);
  return failed + trying >= limit ? wait : free;
}

/**
 * After the allowed failures, one guess at a time with a delay that doubles, up to the average pace the quota allows. So strangers who
 * guess from many networks get no more guesses than from one, and the owner of the account never meets a long lock.
 */
export function delayVerdict(count: GuessCount, { requests, windowSeconds }: Quota): Verdict {
  const { failed, trying, secondsSinceFailure } = count;
  if (failed < requests) return failed + trying >= requests ? wait : free;
  const delaySeconds = Math.min(2 ** (failed - requests), windowSeconds / requests);
  if (secondsSinceFailure < delaySeconds) return locked(delaySeconds - secondsSinceFailure);
  return trying > 0 ? wait : free;
}

/** The strictest of several verdicts. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  const waits = verdicts.flatMap((verdict) => (verdict.kind === 'locked' ? [verdict.waitSeconds] : []));
  if (waits.length > 0) return locked(Math.max(...waits));
  return verdicts.some(({ kind }) => kind === 'wait') ? wait : free;
}

/** Failures allowed at one network: a network from which many accounts sign in is an office, and gets the limit once for each. */
export function networkLimit({ requests }: Quota, factor: number, accountsThere: number): number {
  return requests * factor * (1 + accountsThere);
}
