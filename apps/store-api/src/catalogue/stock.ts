import { type Message, messages, type ProductSnapshot } from '@fulfilment/contracts';
import { statement, together, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { type ProductRow, productColumns, productSnapshot } from './product-row.js';
import { nextUpdateTime } from '../next-update-time.js';

export interface StockLine {
  readonly productId: string;
  readonly quantity: number;
}

const take = statement(
  'stock.take',
  `UPDATE products SET quantity = quantity - $2, version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND quantity >= $2
   RETURNING ${productColumns}`,
);
// Pieces that were sold and do not exist are made up for first.
const giveBack = statement(
  'stock.give-back',
  `UPDATE products SET quantity = greatest(0, quantity - oversold + $2), oversold = greatest(0, oversold - quantity - $2),
                       version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND limited_edition
   RETURNING ${productColumns}, oversold`,
);
// A row that is not limited stays so until the transaction ends: FOR KEY SHARE waits for the report that limits it, and makes it wait.
const holdUnlimited = statement(
  'stock.hold-unlimited',
  'SELECT id FROM products WHERE id = ANY($1::uuid[]) AND NOT limited_edition ORDER BY id FOR KEY SHARE',
);
const recordMovements = statement(
  'stock.record',
  `INSERT INTO stock_movements (order_id, attempt, product_id, kind, quantity)
   SELECT $1, $4, product_id, 'taken', quantity FROM unnest($2::uuid[], $3::int[]) AS line (product_id, quantity)`,
);
const recordReturns = statement(
  'stock.record-returns',
  `INSERT INTO stock_movements (order_id, attempt, product_id, kind, quantity)
   SELECT order_id, attempt, product_id, 'returned', quantity FROM stock_movements WHERE order_id = $1 AND kind = 'taken'
   ON CONFLICT DO NOTHING
   RETURNING product_id AS "productId", quantity`,
);

/** A product that was read as unlimited has become a limited edition since: the order has to be priced again. */
export class BecameLimited extends Error {
  override readonly name = 'BecameLimited';
}

/** The pieces left of limited editions. Every change tells its events in the same transaction. */
@Injectable()
export class Stock {
  constructor(
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Takes the pieces of an order, or answers the ids of products that have too few (then the caller rolls back).
   * Rows are locked in the order of their ids, so two baskets never wait for each other.
   * @param attempt which of the order's charges they are taken for
   */
  async take(tx: Transaction, orderId: string, lines: readonly StockLine[], attempt = 1): Promise<string[]> {
    const short: string[] = [];
    const changes: { product: ProductSnapshot; previous: number }[] = [];
    const wanted = sumByProduct(lines);
    // Asked for in one go: one connection runs them in this order.
    const rows = await together(
      wanted.map(({ productId, quantity }) => tx.row<ProductRow>(take, [productId, quantity])),
    );
    for (const [index, { productId, quantity }] of wanted.entries()) {
      const row = rows[index];
      if (row === undefined) short.push(productId);
      else changes.push({ product: productSnapshot(row), previous: (row.quantity ?? 0) + quantity });
    }
    if (short.length > 0 || wanted.length === 0) return short;
    const productIds = wanted.map((line) => line.productId);
    const quantities = wanted.map((line) => line.quantity);
    await together([
      tx.run(recordMovements, [orderId, productIds, quantities, attempt]),
      this.tell(tx, changes),
    ]);
    return [];
  }

  /**
   * Keeps products from becoming limited editions until the transaction ends, since nothing is taken from them.
   * @throws BecameLimited when one already has
   */
  async holdUnlimited(tx: Transaction, productIds: readonly string[]): Promise<void> {
    const distinct = [...new Set(productIds)];
    if (distinct.length === 0) return;
    const held = await tx.rows<{ id: string }>(holdUnlimited, [distinct]);
    if (held.length < distinct.length) throw new BecameLimited();
  }

  /** Gives back what an order took; a second time changes nothing. */
  async giveBack(tx: Transaction, orderId: string): Promise<void> {
    const returned = sumByProduct(
      await tx.rows<{ productId: string; quantity: number }>(recordReturns, [orderId]),
    );
    const changes: { product: ProductSnapshot; previous: number }[] = [];
    for (const { productId, quantity } of returned) {
      const row = await tx.row<ProductRow & { oversold: number }>(giveBack, [productId, quantity]);
      if (row === undefined) continue;
      const { oversold, ...product } = row;
      const balanceBefore = (product.quantity ?? 0) - oversold - quantity;
      changes.push({ product: productSnapshot(product), previous: Math.max(0, balanceBefore) });
    }
    await this.tell(tx, changes);
  }

  /**
   * The events of changed stock: inventory_changed, and in_stock or out_of_stock where zero was crossed; none where the number is the same.
   * @param changes `previous` null for what had no count: it was never sold out, so nothing came back into stock
   */
  async tell(
    tx: Transaction,
    changes: readonly { product: ProductSnapshot; previous: number | null }[],
  ): Promise<void> {
    const occurredAt = this.clock();
    const facts = changes.flatMap(({ product, previous }): Message[] => {
      if (product.quantity === previous) return [];
      const changed = messages.productInventoryChanged.make(
        { product, previous_quantity: previous },
        { occurredAt },
      );
      if (product.quantity === 0)
        return [changed, messages.productOutOfStock.make({ product }, { occurredAt })];
      if (previous === 0) return [changed, messages.productInStock.make({ product }, { occurredAt })];
      return [changed];
    });
    await this.outbox.add(tx, ...facts);
  }
}

/** One line a product, in the order of ids: the order in which rows are locked. */
function sumByProduct(lines: readonly StockLine[]): StockLine[] {
  const sums = new Map<string, number>();
  for (const { productId, quantity } of lines) sums.set(productId, (sums.get(productId) ?? 0) + quantity);
  return [...sums]
    .map(([productId, quantity]) => ({ productId, quantity }))
    .sort((one, other) => (one.productId < other.productId ? -1 : 1));
}
