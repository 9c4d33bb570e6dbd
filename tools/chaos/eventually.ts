import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../dev/failure.ts';

const pollIntervalMs = 100;

/** Polls until the function returns a value; a rejection means not yet. @throws Failure after `timeoutMs` */
export async function eventually<Result>(
  poll: () => Promise<Result | undefined>,
  timeoutMs: number,
  what: string,
): Promise<Result> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const result = await poll().catch(() => undefined);
    if (result !== undefined) return result;
    if (performance.now() > endsAtMs)
      throw new Failure(`Waited ${timeoutMs / 1000} s in vain until ${what}.`);
    await sleep(pollIntervalMs);
  }
}
