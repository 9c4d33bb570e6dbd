import { parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { RejectedMessage } from '@fulfilment/messaging';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { nextUpdateTime } from '../next-update-time.js';
import { type ProductRow, productColumns, productSnapshot } from './product-row.js';
import { type Balance, balanceAfterCount, maxStock, stockOf } from './stock-balance.rules.js';
import { Stock } from './stock.js';

// An event from a clock that is ahead counts as of now, so that it does not override later events.
const effectiveTime = 'least($2::timestamptz, now())';

const lockProduct = statement(
  'stock.lock-product',
  `SELECT ${productColumns}, oversold, coalesce(stock_set_at > ${effectiveTime}, false) AS counted_later,
          coalesce(stock_set_at = ${effectiveTime}, false) AS counted_then
   FROM products WHERE id = $1 FOR UPDATE`,
);
// Orders since the count, in any status: FOR SHARE waits for transactions that settle, cancel or recharge
// them.
const lockUnlimitedSales = statement(
  'stock.lock-unlimited-sales',
  `SELECT o.id FROM orders o
   WHERE o.creator_id = $3 AND o.created_at > ${effectiveTime}
     AND EXISTS (SELECT FROM order_items WHERE order_id = o.id AND product_id = $1)
   ORDER BY o.id FOR SHARE`,
);
// For orders that were placed while no pieces were taken. A separate statement, so that it sees the charges
// as they are after the wait: a statement that waits for a row re-reads only that row.
const recordUnlimitedSales = statement(
  'stock.record-unlimited-sales',
  `INSERT INTO stock_movements (order_id, attempt, product_id, kind, quantity, moved_at)
   SELECT o.id, (SELECT max(attempt) FROM charges WHERE order_id = o.id), $1, 'taken',
          (SELECT sum(quantity) FROM order_items WHERE order_id = o.id AND product_id = $1), o.created_at
   FROM orders o
   WHERE o.id = ANY ($2::uuid[])
     AND (o.status NOT IN ('cancelled', 'payment_failed')
          OR EXISTS (SELECT FROM charges WHERE order_id = o.id AND status = 'pending'))
   ON CONFLICT DO NOTHING`,
);
const readChangesSince = statement(
  'stock.changes-since',
  `SELECT coalesce((SELECT sum(CASE kind WHEN 'taken' THEN -quantity ELSE quantity END) FROM stock_movements
                    WHERE product_id = $1 AND moved_at > ${effectiveTime}), 0)
        + coalesce((SELECT sum(delta) FROM stock_adjustments WHERE product_id = $1 AND occurred_at > ${effectiveTime}), 0) AS changes`,
);
const saveCountTime = statement(
  'stock.save-count-time',
  `UPDATE products SET stock_set_at = ${effectiveTime}, limited_edition = true, quantity = coalesce(quantity, 0) WHERE id = $1`,
);
const insertAdjustment = statement(
  'stock.insert-adjustment',
  `INSERT INTO stock_adjustments (product_id, occurred_at, message_id, delta) VALUES ($1, ${effectiveTime}, $3, $4)
   ON CONFLICT DO NOTHING`,
);
const setBalance = statement(
  'stock.set-balance',
  `UPDATE products SET quantity = $2, oversold = $3, version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 RETURNING ${productColumns}`,
);

interface LockedProduct extends ProductRow {
  readonly oversold: number;
  /** Whether a later count was applied. */
  readonly counted_later: boolean;
  /** Whether a count with the same time was applied. */
  readonly counted_then: boolean;
}

export interface StockAdjustment {
  readonly messageId: string;
  /** Pieces; negative for a loss. */
  readonly delta: number;
  /** RFC 3339. */
  readonly occurredAt: string;
}

/**
 * Applies stock counts and adjustments of the warehouse. Later sales, returns and adjustments are added to a
 * count, so the order in which events and orders arrive makes no difference (docs/adr/0024). The product's
 * row is locked first.
 */
@Injectable()
export class ApplyStockEvents {
  constructor(
    private readonly stock: Stock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Makes the product a limited edition if necessary. A count older than the newest one changes nothing.
   * @throws RejectedMessage
   */
  async count(tx: Transaction, sku: string, quantity: number, countedAt: string): Promise<void> {
    const before = await this.lock(tx, sku, countedAt);
    if (before.counted_later) return;
    const { id, creator_id: creatorId, limited_edition: limited } = before;
    if (!limited) {
      const sold = await tx.rows<{ id: string }>(lockUnlimitedSales, [id, countedAt, creatorId]);
      await tx.run(recordUnlimitedSales, [id, sold.map((order) => order.id)]);
    }
    const since = await tx.row<{ changes: number }>(readChangesSince, [id, countedAt]);
    const balance = balanceAfterCount(quantity + (since?.changes ?? 0), before);
    await tx.run(saveCountTime, [id, countedAt]);
    await this.write(tx, sku, before, balance);
  }

  /**
   * Changes the stock once per message id, unless a count with the same or a later time includes the change.
   * Without a count, the adjustment is stored until there is one.
   * @throws RejectedMessage
   */
  async adjust(tx: Transaction, sku: string, adjustment: StockAdjustment): Promise<void> {
    const { messageId, delta, occurredAt } = adjustment;
    const before = await this.lock(tx, sku, occurredAt);
    const inserted = await tx.run(insertAdjustment, [before.id, occurredAt, messageId, delta]);
    if (inserted === 0 || before.counted_later || before.counted_then || before.quantity === null) return;
    await this.write(tx, sku, before, before.quantity - before.oversold + delta);
  }

  private async write(tx: Transaction, sku: string, before: LockedProduct, balance: number): Promise<void> {
    if (Math.abs(balance) > maxStock)
      throw new RejectedMessage(`${sku} would have more than ${maxStock} pieces`);
    const { quantity, oversold }: Balance = stockOf(balance);
    if (before.limited_edition && before.quantity === quantity && before.oversold === oversold) return;
    const after = await tx.row<ProductRow>(setBalance, [before.id, quantity, oversold]);
    if (after === undefined) throw new Error('A locked product no longer exists.');
    await this.stock.publishChanges(tx, [{ product: productSnapshot(after), previous: before.quantity }]);
    if (oversold <= before.oversold) return;
    tx.afterCommit(() =>
      this.logger.warn({ sku, oversold }, 'More pieces are sold than the warehouse reports in stock.'),
    );
  }

  private async lock(tx: Transaction, sku: string, occurredAt: string): Promise<LockedProduct> {
    const id = parsePublicId('prod', sku);
    const product = id === undefined ? undefined : await tx.row<LockedProduct>(lockProduct, [id, occurredAt]);
    if (product === undefined) throw new RejectedMessage(`product ${sku.slice(0, 40)} does not exist`);
    return product;
  }
}
