import type { Message } from '@fulfilment/contracts';
import { messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { recordCreators } from '../creators/record-creators.js';
import { latestVersions } from './latest-versions.rules.js';
import { LedgerPosting } from '../ledger/ledger-posting.job.js';
import { recordOrderEvents } from '../orders/timeline/record-order-events.js';
import { projectOrders } from '../orders/project-orders.js';

const orderMessages = [
  messages.orderCreated,
  messages.orderProcessing,
  messages.orderPaymentFailed,
  messages.orderShipped,
  messages.orderTrackingUpdated,
  messages.orderDelivered,
  messages.orderCancelled,
] as const;
const creatorMessages = [messages.creatorRegistered, messages.creatorChanged] as const;

/** Applies creator and order messages to the read models and the ledger. */
@Injectable()
export class CreatorAndOrderConsumer extends MessageConsumer {
  readonly queue = 'creator-api.facts';
  readonly batchSize = 200;

  constructor(@Inject(LedgerPosting) private readonly posting: Pick<LedgerPosting, 'creatorsChanged'>) {
    super();
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    const creators = batch.flatMap((message) =>
      creatorMessages.flatMap((type) => (type.is(message) ? [message.data.creator] : [])),
    );
    const orders = batch.flatMap((message) =>
      orderMessages.flatMap((type) => (type.is(message) ? [message.data.order] : [])),
    );
    await recordCreators(tx, latestVersions(creators));
    await projectOrders(tx, latestVersions(orders));
    await recordOrderEvents(tx, batch);
    // Paid orders may be waiting for these creators.
    if (creators.length > 0) {
      const ids = creators.map((creator) => creator.id);
      tx.afterCommit(() => this.posting.creatorsChanged(ids));
    }
  }
}
