import { setTimeout as delay } from 'node:timers/promises';

const pollIntervalMs = 20;

/**
 * Polls until the function returns a value other than undefined and false.
 * @throws after `timeoutMs`, with the text of `describe`
 */
export async function eventually<Result>(
  poll: () => Result | undefined | false | Promise<Result | undefined | false>,
  timeoutMs = 20_000,
  describe: () => string = () => 'there was no result',
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
