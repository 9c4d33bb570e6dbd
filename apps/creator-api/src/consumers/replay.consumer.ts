import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { recordCreators } from '../creators/record-creators.js';
import { latestVersions } from './latest-versions.rules.js';
import { LedgerPosting } from '../ledger/ledger-posting.job.js';
import { projectOrders } from '../orders/project-orders.js';

/**
 * Applies replayed creators and orders to the read models and the ledger. A queue of its own, so that a
 * replay does not delay current messages (ADR 18).
 */
@Injectable()
export class ReplayConsumer extends MessageConsumer {
  readonly queue = 'creator-api.replay';
  readonly batchSize = 200;

  constructor(@Inject(LedgerPosting) private readonly posting: Pick<LedgerPosting, 'creatorsChanged'>) {
    super();
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    const creators = batch.flatMap((message) =>
      messages.replayCreator.is(message) ? [message.data.creator] : [],
    );
    const orders = batch.flatMap((message) => (messages.replayOrder.is(message) ? [message.data.order] : []));
    await recordCreators(tx, latestVersions(creators), { replay: true });
    await projectOrders(tx, latestVersions(orders), { replay: true });
    // Paid orders may be waiting for these creators.
    if (creators.length > 0) {
      const ids = creators.map((creator) => creator.id);
      tx.afterCommit(() => this.posting.creatorsChanged(ids));
    }
  }
}
