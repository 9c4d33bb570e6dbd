import { z } from 'zod';
import { factsExchangeOf } from '../permissions.js';
import type { Message } from './message.js';

const testOrder = z.object({ order: z.object({ test: z.literal(true) }) });

/**
 * Returns the key by which the facts exchange routes a message: its type. Messages of test orders have keys
 * of their own, so that a warehouse that binds `order.processing` never receives them (ADR 66).
 */
export function routingKeyOf({ type, data }: Message): string {
  const isTestOrder = type.startsWith('order.') && testOrder.safeParse(data).success;
  return isTestOrder ? type.replace('order.', 'order.test.') : type;
}

/**
 * The queue of each consumer and its routing keys. The first part of a name is the service that owns the
 * queue. Only that service declares it, in its migration step, so that messages are kept before its first
 * start.
 */
export const messageQueues = {
  'store-api.creators': ['creator.*', 'edition.created', 'track.processed'],
  'store-api.fulfilment': ['fulfilment.*', 'catalogue.*'],
  'creator-api.facts': ['creator.*', 'order.*', 'order.test.*'],
  'creator-api.replay': [], // messages are sent directly to the queue
  'webhook-worker.events': ['order.*', 'order.test.*', 'product.*'],
  'webhook-worker.clients': ['client.*'],
} as const satisfies Record<string, readonly string[]>;

export type MessageQueue = keyof typeof messageQueues;

/**
 * Queues with a single active consumer, which handles messages in order; a sharded queue has one for each
 * intake and shard. A fulfilment event depends on earlier ones, and a replay counts as ended when its last
 * message is applied.
 */
export const orderedQueues: ReadonlySet<MessageQueue> = new Set([
  'store-api.fulfilment',
  'creator-api.replay',
]);

/** A group of the message types of a sharded queue. The other groups do not wait for it. */
export interface Lane {
  readonly name: string;
  /** Patterns of its message types. The lane without patterns has all other types. */
  readonly types: readonly string[];
  readonly shardCount: number;
  /** Maximum number of transactions of the lane that one process runs at the same time. */
  readonly maxTransactions: number;
}

/**
 * Queues whose messages are divided into lanes by type, and within a lane into shards by a key (ADR 44). A
 * shard is an ordered queue, and messages with the same key are in the same shard. A change of lanes or
 * shards needs a new version of the queue.
 */
const shardedQueues: ReadonlyMap<MessageQueue, readonly Lane[]> = new Map([
  [
    'store-api.fulfilment',
    [
      { name: 'orders', types: [], shardCount: 8, maxTransactions: 2 },
      {
        name: 'stock',
        types: [
          'fulfilment.stock_set',
          'fulfilment.stock_adjusted',
          'fulfilment.product_released',
          'fulfilment.product_withdrawn',
          'catalogue.*',
        ],
        shardCount: 4,
        maxTransactions: 1,
      },
    ],
  ],
]);

/**
 * RabbitMQ rejects other arguments for an existing queue, so a change of arguments needs a new name: add a
 * version here (ADR 23). The last one is current; consumers empty and delete the older queues.
 */
const queueVersions: Readonly<Partial<Record<MessageQueue, readonly number[]>>> = {
  'store-api.fulfilment': [1, 2, 3],
};
/** Versions of the queues that `queueVersions` does not name. */
const defaultVersions = [1, 2];

/** Names of the queues and exchanges of a sharded queue. */
export interface ShardedTopology {
  /** Routes message types to the intakes of the lanes, and the name of a shard to that shard. */
  readonly exchange: string;
  /** Receives messages of the types that no lane lists. */
  readonly otherTypesExchange: string;
  readonly lanes: readonly (Lane & {
    /** The queue from which the lane's messages are moved to its shards. */
    readonly intake: string;
    readonly shards: readonly string[];
  })[];
}

/** Names of a suite's exchanges and queues. Suites that share a broker use different namespaces. */
export interface Topology {
  /** The topic exchange of all messages; the routing key is `routingKeyOf(message)`. */
  readonly factsExchange: string;
  /**
   * The queue that receives messages; of a sharded queue, the intake of the lane without types. A message of
   * any type that is sent directly to it reaches its shard.
   */
  queue(name: MessageQueue): string;
  /** Names of the queue's earlier versions, oldest first. */
  retiredQueues(name: MessageQueue): string[];
  /** Undefined for a queue that is not sharded. */
  sharded(name: MessageQueue): ShardedTopology | undefined;
  /** Receives rejected messages of the queue's service; the routing key is the dead-letter queue. */
  deadLetterExchange(name: MessageQueue): string;
  /** Holds rejected messages for an operator. The same for all versions of the queue. */
  deadLetterQueue(name: MessageQueue): string;
}

export function topologyOf(namespace: string): Topology {
  const versions = (name: MessageQueue): string[] =>
    (queueVersions[name] ?? defaultVersions).map(
      (version) => `${namespace}.${name}${version === 1 ? '' : `.v${version}`}`,
    );
  const current = (name: MessageQueue): string => versions(name).at(-1) ?? name;
  return {
    factsExchange: factsExchangeOf(namespace),
    queue: current,
    retiredQueues: (name) => versions(name).slice(0, -1),
    sharded: (name) => {
      const lanes = shardedQueues.get(name);
      return lanes && shardedTopology(current(name), lanes);
    },
    deadLetterExchange: (name) => `${namespace}.${serviceOfQueue(name)}.dead-letters`,
    deadLetterQueue: (name) => `${namespace}.${name}.dead`,
  };
}

function shardedTopology(queue: string, lanes: readonly Lane[]): ShardedTopology {
  return {
    exchange: `${queue}.types`,
    otherTypesExchange: `${queue}.other-types`,
    lanes: lanes.map((lane) => ({
      ...lane,
      intake: lane.types.length === 0 ? queue : `${queue}.${lane.name}`,
      shards: Array.from({ length: lane.shardCount }, (_, shard) => `${queue}.${lane.name}.${shard}`),
    })),
  };
}

/** Returns the service that declares and consumes the queue. */
export function serviceOfQueue(name: MessageQueue): string {
  return name.slice(0, name.indexOf('.'));
}
