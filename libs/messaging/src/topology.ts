import { messageQueues } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';

/** The one topic exchange; the routing key is the message's type. */
export const factsExchange = 'suite.facts';
/** Takes refused messages; the routing key is the queue that refused. */
export const deadLetterExchange = 'suite.dead-letters';

/** A message that kills its consumer this often is set aside by the broker itself. */
const deliveryLimit = 20;
const quorum = { 'x-queue-type': 'quorum' };

/** Where a queue's refused messages wait for an operator. */
export function deadLetterQueue(queue: string): string {
  return `${queue}.dead`;
}

/** Declares the whole map: every consumer's quorum queue, with a dead-letter queue beside each. */
export async function assertTopology(channel: ConfirmChannel): Promise<void> {
  await channel.assertExchange(factsExchange, 'topic', { durable: true });
  await channel.assertExchange(deadLetterExchange, 'direct', { durable: true });
  for (const [queue, patterns] of Object.entries(messageQueues)) {
    await channel.assertQueue(deadLetterQueue(queue), { durable: true, arguments: quorum });
    await channel.bindQueue(deadLetterQueue(queue), deadLetterExchange, queue);
    await channel.assertQueue(queue, {
      durable: true,
      deadLetterExchange,
      deadLetterRoutingKey: queue,
      arguments: { ...quorum, 'x-delivery-limit': deliveryLimit },
    });
    for (const pattern of patterns) await channel.bindQueue(queue, factsExchange, pattern);
  }
}
