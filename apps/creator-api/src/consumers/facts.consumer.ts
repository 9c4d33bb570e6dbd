import type { Message } from '@fulfilment/contracts';
import { messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { ConsumerOptions } from '@fulfilment/messaging';
import { recordCreators } from '../creators/record-creators.js';
import { latestVersions } from './latest-versions.rules.js';
import { projectOrders } from '../orders/project-orders.js';

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

/** Applies creator and order messages to the read models and the ledger. */
export function factsConsumer(onCreatorsChanged: (ids: readonly string[]) => void): ConsumerOptions {
  return {
    queue: 'creator-api.facts',
    batchSize: 200,
    handle: (tx, batch) => handleFacts(tx, batch, onCreatorsChanged),
  };
}

async function handleFacts(
  tx: Transaction,
  batch: readonly Message[],
  onCreatorsChanged: (ids: readonly string[]) => void,
): Promise<void> {
  const creators = batch.flatMap((message) =>
    creatorFacts.flatMap((type) => (type.is(message) ? [message.data.creator] : [])),
  );
  const orders = batch.flatMap((message) =>
    orderFacts.flatMap((type) => (type.is(message) ? [message.data.order] : [])),
  );
  await recordCreators(tx, latestVersions(creators));
  await projectOrders(tx, latestVersions(orders));
  // Paid orders of these creators may be waiting for them.
  if (creators.length > 0) tx.afterCommit(() => onCreatorsChanged(creators.map((creator) => creator.id)));
}
