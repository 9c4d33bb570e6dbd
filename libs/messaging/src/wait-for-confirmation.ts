import type { ConfirmChannel } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';

const withinMs = 10_000;

/** Resolves when RabbitMQ has everything published on the channel. Rejects when it refuses a message or says nothing for too long. */
export async function confirmed(channel: ConfirmChannel): Promise<void> {
  const timer = new AbortController();
  const late = delay(withinMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error('RabbitMQ did not confirm in time.');
  });
  try {
    await Promise.race([channel.waitForConfirms(), late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}
