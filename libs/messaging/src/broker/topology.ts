import {
  type MessageQueue,
  messageQueues,
  orderedQueues,
  serviceOfQueue,
  type ShardedTopology,
  type Topology,
  topologyOf,
} from '@fulfilment/contracts';
import type { Channel, ChannelModel } from 'amqplib';
import { close } from './close.js';
import { connect } from './connect.js';

/** RabbitMQ itself dead-letters a message that returned to its queue more often than this. */
const deliveryLimit = 20;
const quorum = { 'x-queue-type': 'quorum' };
/** RabbitMQ's reply code NOT_FOUND. */
const notFound = 404;

/** Returns the names of all queues. */
export function queueNames(): MessageQueue[] {
  return Object.keys(messageQueues).filter(isMessageQueue);
}

/** Whether there is a queue with this name. */
export function isMessageQueue(name: string): name is MessageQueue {
  return Object.hasOwn(messageQueues, name);
}

/** Returns the names of the queues in RabbitMQ that make up a queue: one, or all intakes and shards. */
export function rabbitmqQueuesOf(topology: Topology, name: MessageQueue): string[] {
  const sharded = topology.sharded(name);
  if (sharded === undefined) return [topology.queue(name)];
  return sharded.lanes.flatMap(({ intake, shards }) => [intake, ...shards]);
}

/** Returns the queues that only this service declares and reads. */
export function queuesOf(service: string): MessageQueue[] {
  return queueNames().filter((name) => serviceOfQueue(name) === service);
}

/** Declares the queues of a service before it runs, so that they store messages. @returns their names */
export async function declareQueuesOf(
  service: string,
  { url, namespace }: { readonly url: string; readonly namespace: string },
): Promise<MessageQueue[]> {
  const names = queuesOf(service);
  const topology = topologyOf(namespace);
  const connection = await connect(url);
  try {
    await ensureFactsExchange(connection, topology);
    await declareQueues(connection, topology, names);
  } finally {
    await close(connection);
  }
  return names;
}

/**
 * Declares the exchange only if it does not exist. The RabbitMQ user of a service has no permission to
 * declare it, since that permission would also allow to delete it.
 */
export async function ensureFactsExchange(connection: ChannelModel, topology: Topology): Promise<void> {
  const { factsExchange } = topology;
  const found = await onOwnChannel(connection, (channel) => channel.checkExchange(factsExchange));
  if (found === undefined)
    await onOwnChannel(connection, (channel) =>
      channel.assertExchange(factsExchange, 'topic', { durable: true }),
    );
}

/** Declares each queue with its bindings and its dead-letter queue. */
export async function declareQueues(
  connection: ChannelModel,
  topology: Topology,
  names: readonly MessageQueue[],
): Promise<void> {
  if (names.length === 0) return;
  const channel = await connection.createChannel();
  channel.on('error', () => undefined); // the current call rejects
  for (const name of names) await declareQueue(channel, topology, name);
  await close(channel);
}

async function declareQueue(channel: Channel, topology: Topology, name: MessageQueue): Promise<void> {
  const deadLetterQueue = topology.deadLetterQueue(name);
  const deadLetterExchange = topology.deadLetterExchange(name);
  await channel.assertExchange(deadLetterExchange, 'direct', { durable: true });
  await channel.assertQueue(deadLetterQueue, { durable: true, arguments: quorum });
  await channel.bindQueue(deadLetterQueue, deadLetterExchange, deadLetterQueue);
  const declare = (queue: string) =>
    channel.assertQueue(queue, {
      durable: true,
      deadLetterExchange,
      deadLetterRoutingKey: deadLetterQueue,
      arguments: {
        ...quorum,
        'x-delivery-limit': deliveryLimit,
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish', // at-least-once requires it; without a length limit nothing is rejected
        ...(orderedQueues.has(name) ? { 'x-single-active-consumer': true } : {}),
      },
    });
  const sharded = topology.sharded(name);
  if (sharded === undefined) await declare(topology.queue(name));
  else await declareLanes(channel, sharded, declare);
  const { factsExchange } = topology;
  for (const pattern of messageQueues[name])
    await (sharded === undefined
      ? channel.bindQueue(topology.queue(name), factsExchange, pattern)
      : channel.bindExchange(sharded.exchange, factsExchange, pattern));
}

/** Declares the queues of all lanes. The lane without types gets all other types by `otherTypesExchange`. */
async function declareLanes(
  channel: Channel,
  { exchange, otherTypesExchange, lanes }: ShardedTopology,
  declare: (queue: string) => Promise<unknown>,
): Promise<void> {
  await channel.assertExchange(otherTypesExchange, 'fanout', { durable: true });
  await channel.assertExchange(exchange, 'topic', { durable: true, alternateExchange: otherTypesExchange });
  for (const { intake, types, shards } of lanes) {
    await declare(intake);
    if (types.length === 0) await channel.bindQueue(intake, otherTypesExchange, '');
    for (const type of types) await channel.bindQueue(intake, exchange, type);
    for (const shard of shards) {
      await declare(shard);
      await channel.bindQueue(shard, exchange, shard);
    }
  }
}

/**
 * Makes one call on a channel of its own, because RabbitMQ closes the channel of a failed call.
 * @returns undefined when the named queue or exchange does not exist
 */
export async function onOwnChannel<Result>(
  connection: ChannelModel,
  call: (channel: Channel) => Promise<Result>,
): Promise<Result | undefined> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined); // the call rejects
  try {
    const result = await call(channel);
    await close(channel);
    return result;
  } catch (error) {
    if (hasReplyCode(error, notFound)) return undefined;
    throw error;
  }
}

/** Whether RabbitMQ closed the channel or the connection with this code (AMQP 0-9-1 §1.2). */
export function hasReplyCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
