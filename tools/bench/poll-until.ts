import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../dev/failure.ts';

const pollIntervalMs = 5;

/** @throws Failure with the message if the condition is not met in time */
export async function pollUntil(
  condition: () => Promise<boolean>,
  timeoutMs: number,
  message: string,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > until) throw new Failure(message);
    await sleep(pollIntervalMs);
  }
}
