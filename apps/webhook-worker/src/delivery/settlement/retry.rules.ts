import type { Exchange } from '@fulfilment/guarded-fetch';

const maxRetryAfterMs = 24 * 3_600_000;
const jitter = 0.15;
/** Minimum delay after an attempt at a receiver that is overwhelmed (429) or timed out. */
const minBackoffMs = 60_000;

/**
 * Returns the delay between a failed attempt and the next one; undefined when the schedule is exhausted.
 * @param stepsTaken number of scheduled attempts so far, including this one
 * @param chance random number from 0 to 1, which spreads retries by ±15 %
 */
export function retryDelayMs(
  failed: Pick<Exchange, 'outcome' | 'statusCode' | 'headers'>,
  stepsTaken: number,
  scheduleMs: readonly number[],
  { chance, now }: { readonly chance: number; readonly now: Date },
): number | undefined {
  const stepMs = scheduleMs[stepsTaken];
  if (stepMs === undefined) return undefined;
  const spreadMs = Math.round(stepMs * (1 + jitter * (2 * chance - 1)));
  const isOverwhelmed = failed.outcome === 'timeout' || failed.statusCode === 429;
  // At most the longest step of the schedule, so that a short schedule (in tests) stays short.
  const minDelayMs = isOverwhelmed ? Math.min(minBackoffMs, Math.max(...scheduleMs)) : 0;
  return Math.max(spreadMs, minDelayMs, retryAfterMs(failed.headers['retry-after'], now));
}

/**
 * Returns the delay until the time in `Retry-After`, which is in seconds or a date (RFC 9110 §10.2.3): at
 * most 24 hours; 0 when the header is missing or invalid.
 */
export function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const text = header.trim();
  const afterMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(afterMs) ? 0 : Math.min(Math.max(0, afterMs), maxRetryAfterMs);
}
