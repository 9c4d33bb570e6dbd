import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';

/**
 * Polls until the function returns a value other than false and undefined; a rejection means not yet.
 * @param condition what it waits for, as the end of the message "Waited 30 s without success until …"
 * @throws Failure after `timeoutMs`, with the reason if the last poll was rejected
 */
export async function eventually<Result>(
  poll: () => Promise<Result | false | undefined> | Result | false | undefined,
  timeoutMs: number,
  condition: string,
  pollIntervalMs = 100,
): Promise<Result> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    let reason = '';
    try {
      const result = await poll();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message : String(error)})`;
    }
    if (performance.now() > endsAtMs)
      throw new Failure(`Waited ${timeoutMs / 1000} s without success until ${condition}${reason}.`);
    await sleep(pollIntervalMs);
  }
}
