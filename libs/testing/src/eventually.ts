import { setTimeout as delay } from 'node:timers/promises';

const pollEveryMs = 20;

/** Asks again until there is an answer (not undefined), for what other processes do in their own time. */
export async function eventually<Answer>(
  question: () => Answer | undefined | Promise<Answer | undefined>,
  withinMs = 10_000,
  describe: () => string = () => 'no answer',
): Promise<Answer> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const answer = await question();
    if (answer !== undefined) return answer;
    if (performance.now() > endsAtMs) throw new Error(`Waited ${withinMs} ms in vain: ${describe()}.`);
    await delay(pollEveryMs);
  }
}
