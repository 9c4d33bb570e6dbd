import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { applySnapshots } from './apply-snapshots.js';
import { LedgerPosting } from '../ledger/ledger-posting.job.js';

/**
 * Applies replayed creators and orders to the read models and the ledger. They have their own queue, so that
 * a replay does not delay current messages (ADR 18).
 */
@Injectable()
export class ReplayConsumer extends MessageConsumer {
  readonly queue = 'creator-api.replay';
  readonly batchSize = 200;

  constructor(@Inject(LedgerPosting) private readonly posting: Pick<LedgerPosting, 'scheduleCreators'>) {
    super();
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    const creators = batch.flatMap((message) =>
      messages.replayCreator.is(message) ? [message.data.creator] : [],
    );
    const orders = batch.flatMap((message) => (messages.replayOrder.is(message) ? [message.data.order] : []));
    await applySnapshots(tx, { creators, orders }, this.posting, { replay: true });
  }
}
