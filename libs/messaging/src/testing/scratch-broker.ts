import {
  type Message,
  type MessageQueue,
  parseEnvelope,
  parseMessage,
  routingKeyOf,
  type Topology,
  topologyOf,
} from '@fulfilment/contracts';
import { declareQueues, ensureFactsExchange, queueNames, rabbitmqQueuesOf } from '../broker/topology.js';
import { rejectionReasonHeader } from '../dead-letters/dead-letter-message.js';
import { type ConfirmChannel, connect } from 'amqplib';
import { storeUrl, uniqueName } from '@fulfilment/testing';

/** Exchanges and queues of one test. */
export interface ScratchBroker {
  readonly url: string;
  readonly namespace: string;
  /** Publishes like another service, and waits for the broker's confirmation. */
  publish(...messages: readonly Message[]): Promise<void>;
  /** Publishes each message once on each of several connections, concurrently. */
  publishOnEach(connectionCount: number, messages: readonly Message[]): Promise<void>;
  /** Publishes arbitrary bytes with a message type as the routing key. */
  publishRaw(type: string, content: Buffer): Promise<void>;
  /** All messages published since this object was created, in order, except those of `publishRaw`. */
  readonly published: readonly Message[];
  /** Removes the messages from a queue's dead-letter queue and returns their reasons. */
  takeDeadLetters(queue: MessageQueue): Promise<string[]>;
  /** Deletes the exchanges and queues. */
  drop(): Promise<void>;
}

/**
 * Creates exchanges and queues in a namespace that only this test uses.
 * @param queues those that the test needs; each costs time
 */
export async function scratchBroker(queues: readonly MessageQueue[] = queueNames()): Promise<ScratchBroker> {
  const url = storeUrl('TEST_RABBITMQ_URL');
  const namespace = uniqueName('test');
  const topology = topologyOf(namespace);
  const connection = await connect(url);
  const channel = await connection.createConfirmChannel();
  await ensureFactsExchange(connection, topology);
  await declareQueues(connection, topology, queues);
  const published: Message[] = [];
  const { queue: recordingQueue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(recordingQueue, topology.factsExchange, '#');
  await channel.consume(
    recordingQueue,
    (raw) => {
      if (raw === null || raw.properties.headers?.['x-test-raw'] !== undefined) return;
      if (raw.fields.routingKey === 'fulfilment.invalid_event') return; // its envelope is invalid
      // Tests also publish messages of the warehouse whose data is invalid.
      const isOfWarehouse = raw.fields.routingKey.startsWith('fulfilment.');
      published.push(isOfWarehouse ? parseEnvelope(raw.content) : parseMessage(raw.content));
    },
    { noAck: true },
  );
  return {
    url,
    namespace,
    published,
    publish: (...messages) => publishOn(channel, topology, messages),
    publishOnEach: async (connectionCount, messages) => {
      const connections = await Promise.all(Array.from({ length: connectionCount }, () => connect(url)));
      try {
        const channels = await Promise.all(connections.map((opened) => opened.createConfirmChannel()));
        await Promise.all(channels.map((opened) => publishOn(opened, topology, messages)));
      } finally {
        await Promise.all(connections.map((opened) => opened.close()));
      }
    },
    publishRaw: async (type, content) => {
      channel.publish(topology.factsExchange, type, content, { headers: { 'x-test-raw': true } });
      await channel.waitForConfirms();
    },
    takeDeadLetters: (name) => takeDeadLetters(channel, topology.deadLetterQueue(name)),
    drop: async () => {
      for (const name of queues) await deleteQueue(channel, topology, name);
      await channel.deleteExchange(topology.factsExchange);
      await connection.close();
    },
  };
}

async function takeDeadLetters(channel: ConfirmChannel, deadLetterQueue: string): Promise<string[]> {
  const reasons: string[] = [];
  for (;;) {
    const letter = await channel.get(deadLetterQueue, { noAck: true });
    if (letter === false) return reasons;
    reasons.push(String(letter.properties.headers?.[rejectionReasonHeader]));
  }
}

/** Deletes all RabbitMQ queues of a queue, and its exchanges. */
async function deleteQueue(channel: ConfirmChannel, topology: Topology, name: MessageQueue): Promise<void> {
  for (const queue of [...topology.retiredQueues(name), ...rabbitmqQueuesOf(topology, name)])
    await channel.deleteQueue(queue);
  const sharded = topology.sharded(name);
  for (const exchange of sharded ? [sharded.exchange, sharded.otherTypesExchange] : [])
    await channel.deleteExchange(exchange);
  await channel.deleteQueue(topology.deadLetterQueue(name));
  await channel.deleteExchange(topology.deadLetterExchange(name));
}

async function publishOn(
  channel: ConfirmChannel,
  { factsExchange }: Topology,
  messages: readonly Message[],
): Promise<void> {
  for (const message of messages) {
    const content = Buffer.from(JSON.stringify(message));
    channel.publish(factsExchange, routingKeyOf(message), content, { persistent: true });
  }
  await channel.waitForConfirms();
}
