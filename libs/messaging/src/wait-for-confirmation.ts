import type { ConfirmChannel } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';

const confirmTimeoutMs = 10_000;

/**
 * Resolves when RabbitMQ has confirmed everything published on the channel. Rejects on a nack, and after 10
 * s.
 */
export async function waitForConfirmation(channel: ConfirmChannel): Promise<void> {
  const timer = new AbortController();
  const late = delay(confirmTimeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error('RabbitMQ did not confirm in time.');
  });
  try {
    await Promise.race([channel.waitForConfirms(), late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}
