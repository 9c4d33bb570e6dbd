import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { applySnapshots } from './apply-snapshots.js';
import { LedgerPosting } from '../ledger/ledger-posting.job.js';
import { recordOrderEvents } from '../orders/timeline/record-order-events.js';

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

  constructor(@Inject(LedgerPosting) private readonly posting: Pick<LedgerPosting, 'scheduleCreators'>) {
    super();
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    const creators = batch.flatMap((message) =>
      creatorMessages.flatMap((type) => (type.is(message) ? [message.data.creator] : [])),
    );
    const orders = batch.flatMap((message) =>
      orderMessages.flatMap((type) => (type.is(message) ? [message.data.order] : [])),
    );
    await applySnapshots(tx, { creators, orders }, this.posting);
    await recordOrderEvents(tx, batch);
  }
}
