import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import type { OperatorAccess } from './operator-access.ts';

const outcomeSchema = z.object({
  /** The stored values: `refused` means rejected, `held` means deferred. */
  outcome: z.enum(['applied', 'refused', 'held']),
  reason: z.string().nullable(),
});
type MessageOutcome = z.infer<typeof outcomeSchema>;

const timeoutMs = 30_000;
const requestTimeoutMs = 3_000;
const pollIntervalMs = 50;

/**
 * Waits until a service has applied or deferred a message.
 * @throws Failure if the service has rejected the message, or has no outcome after 30 s
 */
export async function waitForOutcome(
  access: Pick<OperatorAccess, 'internal_urls'>,
  service: string,
  messageId: string,
): Promise<void> {
  const internalUrl = access.internal_urls[service];
  if (internalUrl === undefined) throw new Failure(`The suite has no service ${service}.`);
  const endsAtMs = performance.now() + timeoutMs;
  while (performance.now() < endsAtMs) {
    const outcome = await readOutcome(`${internalUrl}/messages/${messageId}`);
    // words: stored value
    if (outcome?.outcome === 'refused')
      throw new Failure(`${service} rejected the message: ${outcome.reason ?? 'no reason was stored'}`);
    if (outcome !== undefined) return;
    await delay(pollIntervalMs);
  }
  throw new Failure(
    `The message is published, but ${service} has not applied it within ${timeoutMs / 1000} s. If ${service} is not running, it applies the message after its start.`,
  );
}

async function readOutcome(url: string): Promise<MessageOutcome | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(requestTimeoutMs) }).catch(() => undefined);
  if (response === undefined) return undefined; // the service may be starting
  if (response.ok) return outcomeSchema.parse(await response.json());
  await response.body?.cancel();
  return undefined;
}
