/**
 * Every consumer's queue and the message types it takes. Publishers declare all of them before they publish,
 * so a fact is kept for a service that has not started yet.
 */
export const messageQueues = {
  'store-api.creators': ['creator.*', 'edition.created', 'track.processed'],
  'store-api.fulfilment': ['fulfilment.*', 'catalogue.*'],
  'creator-api.facts': ['creator.*', 'order.*'],
  'webhook-worker.events': ['order.*', 'product.*'],
} as const satisfies Record<string, readonly string[]>;

export type MessageQueue = keyof typeof messageQueues;
