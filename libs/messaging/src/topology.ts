import { type MessageQueue, messageQueues } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';

/** Names of one suite's exchanges and queues. Suites that share a broker have namespaces of their own. */
export interface Topology {
  /** The one topic exchange; the routing key is the message's type. */
  readonly factsExchange: string;
  /** Takes refused messages; the routing key is the queue that refused. */
  readonly deadLetterExchange: string;
  queue(name: MessageQueue): string;
  /** Where a queue's refused messages wait for an operator. */
  deadLetterQueue(name: MessageQueue): string;
}

export function topologyOf(namespace: string): Topology {
  return {
    factsExchange: `${namespace}.facts`,
    deadLetterExchange: `${namespace}.dead-letters`,
    queue: (name) => `${namespace}.${name}`,
    deadLetterQueue: (name) => `${namespace}.${name}.dead`,
  };
}

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
      arguments: { ...quorum, 'x-delivery-limit': deliveryLimit },
    });
    for (const pattern of messageQueues[name]) await channel.bindQueue(queue, factsExchange, pattern);
  }
}
