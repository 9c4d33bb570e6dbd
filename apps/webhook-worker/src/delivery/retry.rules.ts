import type { Outcome } from '@fulfilment/guarded-fetch';

const longestRetryAfterMs = 24 * 3_600_000;
const jitter = 0.15;
/** A receiver that is overwhelmed (429) or too slow is left alone for at least so long. */
const breathingSpaceMs = 60_000;

export interface FailedAttempt {
  readonly outcome: Outcome;
  readonly statusCode: number | undefined;
  /** The header as it came. */
  readonly retryAfter: string | undefined;
}

/**
 * How long after a failed attempt the next one is due; undefined when the schedule is spent.
 * @param stepsTaken scheduled attempts made so far, this one included
 * @param chance from 0 to 1, spreads the retries of many by ±15 %
 */
export function retryDelayMs(
  failed: FailedAttempt,
  stepsTaken: number,
  scheduleMs: readonly number[],
  { chance, now }: { readonly chance: number; readonly now: Date },
): number | undefined {
  const stepMs = scheduleMs[stepsTaken];
  if (stepMs === undefined) return undefined;
  const spreadMs = Math.round(stepMs * (1 + jitter * (2 * chance - 1)));
  const overwhelmed = failed.outcome === 'timeout' || failed.statusCode === 429;
  // Never longer than the schedule's own longest step, so that a scaled schedule stays scaled.
  const leastMs = overwhelmed ? Math.min(breathingSpaceMs, Math.max(...scheduleMs)) : 0;
  return Math.max(spreadMs, leastMs, retryAfterMs(failed.retryAfter, now));
}

/** RFC 9110 §10.2.3: seconds or a date. At most 24 hours; 0 when there is none or it makes no sense. */
export function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const text = header.trim();
  const afterMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(afterMs) ? 0 : Math.min(Math.max(0, afterMs), longestRetryAfterMs);
}
