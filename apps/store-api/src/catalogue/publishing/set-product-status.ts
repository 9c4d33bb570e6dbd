import { messages, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Outbox, RejectedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { type ProductRow, productColumns, productSnapshot } from '../product-row.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';

const lockProduct = statement(
  'product.lock',
  `SELECT ${productColumns}, coalesce(status_set_at > $2, false) AS "statusSetLater" FROM products WHERE id = $1 FOR UPDATE`,
);
// The time of an event may be in the future, because of a wrong clock. It is then replaced by the current
// time, so that the event does not override later ones.
const updateStatus = statement(
  'product.set-status',
  `UPDATE products SET status = $2, status_set_at = least($3, now()), version = version + 1, updated_at = ${nextUpdateTimeSql}
   WHERE id = $1 AND status <> $2 AND ($2 <> 'available' OR price_gbp IS NOT NULL)
   RETURNING ${productColumns}`,
);
const saveStatusTime = statement(
  'product.save-status-time',
  'UPDATE products SET status_set_at = least($2, now()) WHERE id = $1',
);

interface LockedProduct extends ProductRow {
  /** Whether the current status was set by a later event. */
  readonly statusSetLater: boolean;
}

const messageTypes = { available: messages.productAvailable, unavailable: messages.productUnavailable };

/** Releases products for sale and withdraws them. */
@Injectable()
export class SetProductStatus {
  constructor(
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Applies an event about a product. A repeated event, or one older than the newest, does not change the
   * status.
   * @throws RejectedMessage for an unknown product, or the release for sale of a product without prices
   */
  async run(
    tx: Transaction,
    sku: string,
    status: 'available' | 'unavailable',
    occurredAt: string,
  ): Promise<void> {
    const id = parsePublicId('prod', sku);
    const before = id === undefined ? undefined : await tx.row<LockedProduct>(lockProduct, [id, occurredAt]);
    if (before === undefined) throw new RejectedMessage(`product ${sku} does not exist`);
    if (before.statusSetLater) return;
    const after = await tx.row<ProductRow>(updateStatus, [before.id, status, occurredAt]);
    if (after === undefined) {
      if (before.status !== status) throw new RejectedMessage(`${sku} has no prices yet`);
      await tx.run(saveStatusTime, [before.id, occurredAt]);
      return;
    }
    const product = productSnapshot(after);
    await this.outbox.add(tx, messageTypes[status].make({ product }, { occurredAt: this.clock() }));
  }
}
