import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { ConsumerOptions } from '@fulfilment/messaging';
import { recordCreators } from './creators/record-creators.js';
import { newestOfEach } from './newest-of-each.rules.js';
import { projectOrders } from './orders/project-orders.js';

/** What is told again of creators and orders, into the read models and the ledger. Beside the facts, which do not wait for it. */
export function replayConsumer(onCreators: (ids: readonly string[]) => void): ConsumerOptions {
  return {
    queue: 'creator-api.replay',
    batchSize: 200,
    handle: (tx, batch) => takeAgain(tx, batch, onCreators),
  };
}

async function takeAgain(
  tx: Transaction,
  batch: readonly Message[],
  onCreators: (ids: readonly string[]) => void,
): Promise<void> {
  const creators = batch.flatMap((message) =>
    messages.replayCreator.is(message) ? [message.data.creator] : [],
  );
  const orders = batch.flatMap((message) => (messages.replayOrder.is(message) ? [message.data.order] : []));
  await recordCreators(tx, newestOfEach(creators), { again: true });
  await projectOrders(tx, newestOfEach(orders), { again: true });
  if (creators.length > 0) tx.afterCommit(() => onCreators(creators.map((creator) => creator.id))); // orders may have waited for them
}
