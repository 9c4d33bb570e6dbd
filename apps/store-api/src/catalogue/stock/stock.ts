import { type Message, messages, type ProductSnapshot } from '@fulfilment/contracts';
import { statement, pipelined, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { type ProductRow, productColumns, productSnapshot } from '../product-row.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';

/** Pieces of a product to take or return. */
interface StockLine {
  readonly productId: string;
  readonly quantity: number;
}

interface StockChange {
  /** The product after the change. */
  readonly product: ProductSnapshot;
  /**
   * Pieces before the change; null for a product that was not counted before. Its first count does not
   * publish `in_stock`, since the product was not sold out.
   */
  readonly previous: number | null;
  /** By default, the traceparent of the current work context. */
  readonly traceparent?: string;
}

const take = statement(
  'stock.take',
  `UPDATE products SET quantity = quantity - $2, version = version + 1, updated_at = ${nextUpdateTimeSql}
   WHERE id = $1 AND quantity >= $2
   RETURNING ${productColumns}`,
);
// Returned pieces first reduce the number of oversold pieces.
const returnPieces = statement(
  'stock.return',
  `UPDATE products SET quantity = greatest(0, quantity - oversold + $2), oversold = greatest(0, oversold - quantity - $2),
                       version = version + 1, updated_at = ${nextUpdateTimeSql}
   WHERE id = $1 AND limited_edition
   RETURNING ${productColumns}, oversold`,
);
const recordTaken = statement(
  'stock.record-taken',
  `INSERT INTO stock_movements (order_id, attempt, product_id, kind, quantity)
   SELECT $1, $2, product_id, 'taken', quantity FROM unnest($3::uuid[], $4::int[]) AS line (product_id, quantity)`,
);
const recordReturns = statement(
  'stock.record-returns',
  `INSERT INTO stock_movements (order_id, attempt, product_id, kind, quantity)
   SELECT order_id, attempt, product_id, 'returned', quantity FROM stock_movements WHERE order_id = $1 AND kind = 'taken'
   ON CONFLICT DO NOTHING
   RETURNING product_id AS "productId", quantity`,
);

/**
 * SQL that locks the products that are not limited editions. FOR KEY SHARE conflicts with the stock count
 * that makes a product a limited edition, so these products stay unlimited until the transaction ends.
 * @param ids the parameter with the distinct ids of the products
 */
export function lockUnlimitedSql(ids: string): string {
  return `SELECT id FROM products WHERE id = ANY(${ids}::uuid[]) AND NOT limited_edition ORDER BY id FOR KEY SHARE`;
}

/** Thrown when a product became a limited edition after it was read. The order has to be priced again. */
export class BecameLimited extends Error {
  override readonly name = 'BecameLimited';
}

/** The stock of limited editions. Every change publishes its events in the same transaction. */
@Injectable()
export class Stock {
  constructor(
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Takes the pieces of an order. Returns the ids of products with too few pieces; then the caller rolls
   * back. Rows are locked in the order of their ids, to avoid deadlocks.
   * @param attempt the number of the order's charge that pays for the pieces; by default, the first
   */
  async take(tx: Transaction, orderId: string, lines: readonly StockLine[], attempt = 1): Promise<string[]> {
    const insufficient: string[] = [];
    const changes: StockChange[] = [];
    const requested = sumByProduct(lines);
    // One connection runs the statements in the order in which they are sent: that of the ids.
    const rows = await pipelined(
      requested.map(({ productId, quantity }) => tx.row<ProductRow>(take, [productId, quantity])),
    );
    for (const [index, { productId, quantity }] of requested.entries()) {
      const row = rows[index];
      if (row === undefined) insufficient.push(productId);
      else changes.push({ product: productSnapshot(row), previous: (row.quantity ?? 0) + quantity });
    }
    if (insufficient.length > 0 || requested.length === 0) return insufficient;
    const productIds = requested.map((line) => line.productId);
    const quantities = requested.map((line) => line.quantity);
    // Other orders wait for the locked rows, so no response is awaited before the commit.
    tx.awaitAtCommit(
      tx.run(recordTaken, [orderId, attempt, productIds, quantities]),
      this.publishChanges(tx, changes),
    );
    return [];
  }

  /** Returns the pieces of an order to the stock. Idempotent. */
  async returnStock(tx: Transaction, orderId: string): Promise<void> {
    const returned = sumByProduct(
      await tx.rows<{ productId: string; quantity: number }>(recordReturns, [orderId]),
    );
    const changes: StockChange[] = [];
    for (const { productId, quantity } of returned) {
      const row = await tx.row<ProductRow & { oversold: number }>(returnPieces, [productId, quantity]);
      if (row === undefined) continue;
      const { oversold, ...product } = row;
      const balanceBefore = (product.quantity ?? 0) - oversold - quantity;
      changes.push({ product: productSnapshot(product), previous: Math.max(0, balanceBefore) });
    }
    await this.publishChanges(tx, changes);
  }

  /**
   * Publishes `inventory_changed` for each product whose number of pieces has changed; also `out_of_stock` if
   * it is zero now, and `in_stock` if it was zero before.
   */
  async publishChanges(tx: Transaction, changes: readonly StockChange[]): Promise<void> {
    const occurredAt = this.clock();
    const outgoing = changes.flatMap(({ product, previous, traceparent }): Message[] => {
      if (product.quantity === previous) return [];
      const options = { occurredAt, ...(traceparent !== undefined && { traceparent }) };
      const changed = messages.productInventoryChanged.make(
        { product, previous_quantity: previous },
        options,
      );
      if (product.quantity === 0) return [changed, messages.productOutOfStock.make({ product }, options)];
      if (previous === 0) return [changed, messages.productInStock.make({ product }, options)];
      return [changed];
    });
    await this.outbox.add(tx, ...outgoing);
  }
}

/** One line per product, in the order of the ids, in which rows are locked. */
function sumByProduct(lines: readonly StockLine[]): StockLine[] {
  const sums = new Map<string, number>();
  for (const { productId, quantity } of lines) sums.set(productId, (sums.get(productId) ?? 0) + quantity);
  return [...sums]
    .map(([productId, quantity]) => ({ productId, quantity }))
    .sort((a, b) => (a.productId < b.productId ? -1 : 1));
}
