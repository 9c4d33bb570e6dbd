import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { ConsumerOptions } from '@fulfilment/messaging';
import { recordCreators } from '../creators/record-creators.js';
import { latestVersions } from './latest-versions.rules.js';
import { projectOrders } from '../orders/project-orders.js';

/**
 * Applies replayed creators and orders to the read models and the ledger. A queue of its own, so that a
 * replay does not delay current messages.
 */
export function replayConsumer(onCreatorsChanged: (ids: readonly string[]) => void): ConsumerOptions {
  return {
    queue: 'creator-api.replay',
    batchSize: 200,
    handle: (tx, batch) => handleReplay(tx, batch, onCreatorsChanged),
  };
}

async function handleReplay(
  tx: Transaction,
  batch: readonly Message[],
  onCreatorsChanged: (ids: readonly string[]) => void,
): Promise<void> {
  const creators = batch.flatMap((message) =>
    messages.replayCreator.is(message) ? [message.data.creator] : [],
  );
  const orders = batch.flatMap((message) => (messages.replayOrder.is(message) ? [message.data.order] : []));
  await recordCreators(tx, latestVersions(creators), { replay: true });
  await projectOrders(tx, latestVersions(orders), { replay: true });
  // Paid orders of these creators may be waiting for them.
  if (creators.length > 0) tx.afterCommit(() => onCreatorsChanged(creators.map((creator) => creator.id)));
}
