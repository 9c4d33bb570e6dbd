/**
 * The queue of each consumer and its routing keys. The first part of a name is the service that owns the
 * queue. Only that service declares it, in its migration step, so messages are kept before the service first
 * starts.
 */
export const messageQueues = {
  'store-api.creators': ['creator.*', 'edition.created', 'track.processed'],
  'store-api.fulfilment': ['fulfilment.*', 'catalogue.*'],
  'creator-api.facts': ['creator.*', 'order.*'],
  'creator-api.replay': [], // messages are sent directly to the queue
  'webhook-worker.events': ['order.*', 'product.*'],
  'webhook-worker.clients': ['client.*'],
} as const satisfies Record<string, readonly string[]>;

export type MessageQueue = keyof typeof messageQueues;

/**
 * Queues with a single active consumer, which handles messages in order. Fulfilment messages depend on
 * earlier ones. For a replay, order guarantees that all messages were applied when the last one was.
 */
export const orderedQueues: ReadonlySet<MessageQueue> = new Set([
  'store-api.fulfilment',
  'creator-api.replay',
]);

/**
 * RabbitMQ rejects a declaration with other arguments than the existing queue has, so a change of arguments
 * needs a new queue name. Add a version here (ADR 23). The last version is current; consumers empty and
 * delete the older queues.
 */
const queueVersions = [1, 2] as const;

/** Names of a suite's exchanges and queues. Suites that share a broker use different namespaces. */
export interface Topology {
  /** The topic exchange of all messages; the routing key is the message type. */
  readonly factsExchange: string;
  queue(name: MessageQueue): string;
  /** Names of the queue's earlier versions, oldest first. */
  retiredQueues(name: MessageQueue): string[];
  /** Receives rejected messages of the queue's service; the routing key is the dead-letter queue. */
  deadLetterExchange(name: MessageQueue): string;
  /** Holds rejected messages for an operator. The same for all versions of the queue. */
  deadLetterQueue(name: MessageQueue): string;
}

export function topologyOf(namespace: string): Topology {
  const versions = (name: MessageQueue): string[] =>
    queueVersions.map((version) => `${namespace}.${name}${version === 1 ? '' : `.v${version}`}`);
  return {
    factsExchange: `${namespace}.facts`,
    queue: (name) => versions(name).at(-1) ?? name,
    retiredQueues: (name) => versions(name).slice(0, -1),
    deadLetterExchange: (name) => `${namespace}.${serviceOfQueue(name)}.dead-letters`,
    deadLetterQueue: (name) => `${namespace}.${name}.dead`,
  };
}

/** The service that declares and consumes the queue. */
export function serviceOfQueue(name: MessageQueue): string {
  return name.slice(0, name.indexOf('.'));
}
