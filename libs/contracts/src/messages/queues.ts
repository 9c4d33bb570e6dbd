/**
 * Every consumer's queue and the message types it takes. The first part of a name is the service that owns the queue: it alone declares
 * it, in its migration step, so a fact is kept for a service that has not started yet.
 */
export const messageQueues = {
  'store-api.creators': ['creator.*', 'edition.created', 'track.processed'],
  'store-api.fulfilment': ['fulfilment.*', 'catalogue.*'],
  'creator-api.facts': ['creator.*', 'order.*'],
  'creator-api.replay': [], // written to directly
  'webhook-worker.events': ['order.*', 'product.*'],
  'webhook-worker.clients': ['client.*'],
} as const satisfies Record<string, readonly string[]>;

export type MessageQueue = keyof typeof messageQueues;

/**
 * Queues that one replica at a time takes, in the order they were written: reports are commands of a sort, and when the last message of a
 * replay was applied, all before it were.
 */
export const orderedQueues: ReadonlySet<MessageQueue> = new Set([
  'store-api.fulfilment',
  'creator-api.replay',
]);

/**
 * The arguments of a queue cannot change under one name: RabbitMQ rejects the declaration of the old replicas or of the new ones. A change
 * of arguments adds a version here (ADR 23). The last version is current; consumers drain and delete the queues of the others.
 */
const queueVersions = [1, 2] as const;

/** Names of one suite's exchanges and queues. Suites that share a broker have namespaces of their own. */
export interface Topology {
  /** The one topic exchange; the routing key is the message's type. */
  readonly factsExchange: string;
  queue(name: MessageQueue): string;
  /** The names that the queue had with earlier arguments, oldest first. */
  retiredQueues(name: MessageQueue): string[];
  /** Takes rejected messages of the queue's service; the routing key is the dead-letter queue. */
  deadLetterExchange(name: MessageQueue): string;
  /** Where a queue's rejected messages wait for an operator. The same for all versions of the queue. */
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

/** The service that consumes the queue and alone declares it. */
export function serviceOfQueue(name: MessageQueue): string {
  return name.slice(0, name.indexOf('.'));
}
