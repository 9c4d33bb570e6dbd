import { setTimeout as delay } from 'node:timers/promises';

const pollIntervalMs = 20;

/**
 * Polls until a function returns a value other than undefined and false, and returns that value.
 * @param options.describe what was found instead or is missing, for the error
 * @throws Error after `timeoutMs`; an error of `poll` is not retried
 */
export async function eventually<Result>(
  poll: () => Result | undefined | false | Promise<Result | undefined | false>,
  { timeoutMs = 60_000, describe = (): string => 'there was no result' } = {},
): Promise<Result> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const result = await poll();
    if (result !== undefined && result !== false) return result;
    if (performance.now() > endsAtMs)
      throw new Error(`Waited ${timeoutMs} ms without success: ${describe()}.`);
    await delay(pollIntervalMs);
  }
}
