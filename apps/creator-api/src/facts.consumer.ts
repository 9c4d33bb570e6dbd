import type { Message } from '@fulfilment/contracts';
import { messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { ConsumerOptions } from '@fulfilment/messaging';
import { recordCreators } from './creators/record-creators.js';
import { newestOfEach } from './newest-of-each.rules.js';
import { projectOrders } from './orders/project-orders.js';

const orderFacts = [
  messages.orderCreated,
  messages.orderProcessing,
  messages.orderPaymentFailed,
  messages.orderShipped,
  messages.orderTrackingUpdated,
  messages.orderDelivered,
  messages.orderCancelled,
] as const;
const creatorFacts = [messages.creatorRegistered, messages.creatorChanged] as const;

/** What other services say of creators and orders, into the read models and the ledger. */
export function factsConsumer(onCreators: (ids: readonly string[]) => void): ConsumerOptions {
  return {
    queue: 'creator-api.facts',
    batchSize: 200,
    handle: (tx, batch) => takeFacts(tx, batch, onCreators),
  };
}

async function takeFacts(
  tx: Transaction,
  batch: readonly Message[],
  onCreators: (ids: readonly string[]) => void,
): Promise<void> {
  const creators = batch.flatMap((message) =>
    creatorFacts.flatMap((kind) => (kind.is(message) ? [message.data.creator] : [])),
  );
  const orders = batch.flatMap((message) =>
    orderFacts.flatMap((kind) => (kind.is(message) ? [message.data.order] : [])),
  );
  await recordCreators(tx, newestOfEach(creators));
  await projectOrders(tx, newestOfEach(orders));
  if (creators.length > 0) tx.afterCommit(() => onCreators(creators.map((creator) => creator.id))); // orders may have waited for them
}
