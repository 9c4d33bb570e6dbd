import { type MessageQueue, messageQueues, orderedQueues, type Topology } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';

/** A message that kills its consumer this often is set aside by the broker itself. */
const deliveryLimit = 20;
const quorum = { 'x-queue-type': 'quorum' };

/** Every queue of the catalogue. */
export function queueNames(): MessageQueue[] {
  return Object.keys(messageQueues).filter((name): name is MessageQueue =>
    Object.hasOwn(messageQueues, name),
  );
}

/** Declares the whole map: every consumer's quorum queue, with a dead-letter queue beside each. */
export async function assertTopology(channel: ConfirmChannel, topology: Topology): Promise<void> {
  const { factsExchange, deadLetterExchange } = topology;
  await channel.assertExchange(factsExchange, 'topic', { durable: true });
  await channel.assertExchange(deadLetterExchange, 'direct', { durable: true });
  for (const name of queueNames()) {
    const queue = topology.queue(name);
    await channel.assertQueue(topology.deadLetterQueue(name), { durable: true, arguments: quorum });
    await channel.bindQueue(topology.deadLetterQueue(name), deadLetterExchange, queue);
    await channel.assertQueue(queue, {
      durable: true,
      deadLetterExchange,
      deadLetterRoutingKey: queue,
      arguments: {
        ...quorum,
        'x-delivery-limit': deliveryLimit,
        ...(orderedQueues.has(name) ? { 'x-single-active-consumer': true } : {}),
      },
    });
    for (const pattern of messageQueues[name]) await channel.bindQueue(queue, factsExchange, pattern);
  }
}
