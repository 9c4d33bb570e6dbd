import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for work, but no longer than the timeout. The work itself continues after it.
 * @param onTimeout returns the result, or throws, when the timeout has passed
 */
export async function resolveWithin<Result, Late>(
  timeoutMs: number,
  work: Promise<Result>,
  onTimeout: () => Late,
): Promise<Result | Late> {
  const timer = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: timer.signal }).then(onTimeout);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
