import { resolveWithin } from '@fulfilment/runtime';
import type { ConfirmChannel } from 'amqplib';

const confirmTimeoutMs = 10_000;

/** Resolves when RabbitMQ has confirmed all messages of the channel. Rejects on a nack, and after 10 s. */
export async function waitForConfirmation(channel: ConfirmChannel): Promise<void> {
  await resolveWithin(confirmTimeoutMs, channel.waitForConfirms(), () => {
    throw new Error('RabbitMQ did not confirm in time.');
  });
}
