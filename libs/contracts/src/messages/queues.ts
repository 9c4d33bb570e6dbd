/**
 * Every consumer's queue and the message types it takes. Publishers declare all of them before they publish,
 * so a fact is kept for a service that has not started yet.
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
