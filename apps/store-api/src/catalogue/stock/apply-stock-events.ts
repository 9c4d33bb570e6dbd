import { parsePublicId } from '@fulfilment/contracts';
import { pipelined, type Statement, statement, type Transaction, qualifyColumns } from '@fulfilment/database';
import { NeedsOwnTransaction, RejectedMessage } from '@fulfilment/messaging';
import { LOGGER, type Logger, traceparentOfEffect } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { groupDistinct } from '../../group-distinct.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';
import { type ProductRow, productColumns, productSnapshot } from '../product-row.js';
import { balanceAfterCount, maxStock, type StockLevel, stockLevelOf } from './stock-balance.rules.js';
import { Stock } from './stock.js';

const qualifiedColumns = qualifyColumns('products', productColumns);
// Locks the products in the order of their ids, as orders lock limited products. A time in the future comes
// from a wrong clock. It counts as the current time, so that the event does not override later ones; now()
// would be the same for all events of a transaction.
const lockProductsSql = `SELECT ${qualifiedColumns}, oversold, event.at::text AS "effectiveAt",
          coalesce(stock_set_at > event.at, false) AS "countedLater", coalesce(stock_set_at = event.at, false) AS "countedAtSameTime"
   FROM (SELECT product_id, least(at, clock_timestamp()) AS at FROM unnest($1::uuid[], $2::timestamptz[]) AS sent (product_id, at)) AS event
   JOIN products ON products.id = event.product_id
   ORDER BY products.id`;
const lockProducts = statement('stock.lock-products', `${lockProductsSql} FOR NO KEY UPDATE OF products`);
// The first count of a product excludes orders of the unlimited product, which take FOR KEY SHARE.
const lockOneProduct = statement('stock.lock-one-product', `${lockProductsSql} FOR UPDATE OF products`);
// Finds the orders that were placed after the count, in any status. FOR SHARE waits for transactions that
// settle, cancel or recharge them.
const lockUnlimitedSales = statement(
  'stock.lock-unlimited-sales',
  `SELECT o.id FROM orders o
   WHERE o.creator_id = $3 AND o.created_at > $2::timestamptz
     AND EXISTS (SELECT FROM order_items WHERE order_id = o.id AND product_id = $1)
   ORDER BY o.id FOR SHARE`,
);
// Records the pieces of orders that were placed while the product was not limited. An order with a failed
// payment takes pieces only while it is being recharged. Not part of `lockUnlimitedSales`: after waiting for
// a lock, that statement would see the newest version of an order, but not of its charges.
const insertUnlimitedSales = statement(
  'stock.insert-unlimited-sales',
  `INSERT INTO stock_movements (order_id, attempt, product_id, kind, quantity, moved_at)
   SELECT o.id, (SELECT max(attempt) FROM charges WHERE order_id = o.id), $1, 'taken',
          (SELECT sum(quantity) FROM order_items WHERE order_id = o.id AND product_id = $1), o.created_at
   FROM orders o
   WHERE o.id = ANY ($2::uuid[])
     AND (o.status NOT IN ('cancelled', 'payment_failed')
          OR (o.status = 'payment_failed' AND EXISTS (SELECT FROM charges WHERE order_id = o.id AND status = 'pending')))
   ON CONFLICT DO NOTHING`,
);
const readChangesSince = statement(
  'stock.changes-since',
  `SELECT counted.product_id,
          coalesce((SELECT sum(CASE kind WHEN 'taken' THEN -quantity ELSE quantity END) FROM stock_movements m
                    WHERE m.product_id = counted.product_id AND m.moved_at > counted.at), 0)
        + coalesce((SELECT sum(delta) FROM stock_adjustments a
                    WHERE a.product_id = counted.product_id AND a.occurred_at > counted.at), 0) AS changes
   FROM unnest($1::uuid[], $2::timestamptz[]) AS counted (product_id, at)`,
);
const saveCountTimes = statement(
  'stock.save-count-times',
  `UPDATE products SET stock_set_at = counted.at, limited_edition = true, quantity = coalesce(quantity, 0)
   FROM unnest($1::uuid[], $2::timestamptz[]) AS counted (product_id, at) WHERE products.id = counted.product_id`,
);
const insertAdjustments = statement(
  'stock.insert-adjustments',
  `INSERT INTO stock_adjustments (product_id, occurred_at, message_id, delta)
   SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::int[]) ON CONFLICT DO NOTHING RETURNING message_id`,
);
const setStockLevels = statement(
  'stock.set-levels',
  `UPDATE products SET quantity = new.quantity, oversold = new.oversold, version = version + 1, updated_at = ${nextUpdateTimeSql}
   FROM unnest($1::uuid[], $2::int[], $3::int[]) AS new (product_id, quantity, oversold)
   WHERE products.id = new.product_id RETURNING ${qualifiedColumns}`,
);

interface LockedProduct extends ProductRow {
  readonly oversold: number;
  /** Time of the event, at most the current time; in PostgreSQL's text form, with microseconds. */
  readonly effectiveAt: string;
  /** Whether a later count was applied. */
  readonly countedLater: boolean;
  /** Whether a count with the same time was applied. */
  readonly countedAtSameTime: boolean;
}

/** A count or an adjustment by the warehouse. */
export interface StockEvent {
  readonly messageId: string;
  readonly traceparent?: string | undefined;
  readonly kind: 'count' | 'adjustment';
  readonly sku: string;
  /** Counted pieces, or added ones; negative for a loss. */
  readonly pieces: number;
  /** RFC 3339. */
  readonly occurredAt: string;
}

interface StockEventOfProduct {
  readonly event: StockEvent;
  readonly product: LockedProduct;
}

/** An event with the new stock of its product. */
interface StockLevelChange extends StockEventOfProduct {
  readonly level: StockLevel;
}

/**
 * Applies stock counts and adjustments of the warehouse. Later sales, returns and adjustments are applied to
 * a count, so the order in which events and orders arrive makes no difference (ADR 24).
 */
@Injectable()
export class ApplyStockEvents {
  constructor(
    private readonly stock: Stock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Applies the events of each product in the given order, several products in one statement.
   * @throws RejectedMessage, NeedsOwnTransaction
   */
  async run(tx: Transaction, events: readonly StockEvent[]): Promise<void> {
    for (const group of groupDistinct(events, ({ sku }) => sku)) {
      const locked = await this.lock(tx, events.length === 1 ? lockOneProduct : lockProducts, group);
      const counts = filterByKind(locked, 'count');
      const adjustments = filterByKind(locked, 'adjustment');
      await this.recordUnlimitedSales(tx, counts, { isOnlyEvent: events.length === 1 });
      const changes = [
        ...(await this.applyCounts(tx, counts)),
        ...(await this.applyAdjustments(tx, adjustments)),
      ];
      await this.writeAndPublish(tx, changes);
    }
  }

  /** Locks the products of events about different products. @throws RejectedMessage */
  private async lock(
    tx: Transaction,
    lock: Statement,
    events: readonly StockEvent[],
  ): Promise<StockEventOfProduct[]> {
    const ids = events.map(({ sku }) => parsePublicId('prod', sku));
    const rows = await tx.rows<LockedProduct>(lock, [ids, events.map(({ occurredAt }) => occurredAt)]);
    const products = new Map(rows.map((row) => [row.id, row]));
    return events.map((event, index) => {
      const product = products.get(ids[index] ?? '');
      if (product === undefined) throw new RejectedMessage(`product ${event.sku} does not exist`);
      return { event, product };
    });
  }

  /**
   * Records the sales of products that are counted for the first time. This locks orders after a product. So
   * the transaction must lock no other product: a cancellation may hold one of the orders and wait for that
   * product. `isOnlyEvent` considers only stock events, since events of orders are in another lane (ADR 44),
   * and so in other transactions.
   * @throws NeedsOwnTransaction
   */
  private async recordUnlimitedSales(
    tx: Transaction,
    counts: readonly StockEventOfProduct[],
    { isOnlyEvent }: { readonly isOnlyEvent: boolean },
  ): Promise<void> {
    for (const { product } of counts) {
      if (product.limited_edition || product.countedLater) continue;
      if (!isOnlyEvent) throw new NeedsOwnTransaction();
      const { id, creator_id: creatorId, effectiveAt } = product;
      const sold = await tx.rows<{ id: string }>(lockUnlimitedSales, [id, effectiveAt, creatorId]);
      await tx.run(insertUnlimitedSales, [id, sold.map((order) => order.id)]);
    }
  }

  /**
   * Returns the stock after the counts, and saves the times of the counts. Makes the products limited
   * editions if they are not. A count older than the newest one changes nothing.
   */
  private async applyCounts(
    tx: Transaction,
    counts: readonly StockEventOfProduct[],
  ): Promise<StockLevelChange[]> {
    const newest = counts.filter(({ product }) => !product.countedLater);
    if (newest.length === 0) return [];
    const ids = newest.map(({ product }) => product.id);
    const times = newest.map(({ product }) => product.effectiveAt);
    const [rows] = await pipelined([
      tx.rows<{ product_id: string; changes: number }>(readChangesSince, [ids, times]),
      tx.run(saveCountTimes, [ids, times]),
    ]);
    const changes = new Map(rows.map((row) => [row.product_id, row.changes]));
    return newest.map(({ event, product }) => {
      const countPlusLaterChanges = event.pieces + (changes.get(product.id) ?? 0);
      const balance = balanceAfterCount(countPlusLaterChanges, product);
      return { event, product, level: requireStorable(event.sku, balance) };
    });
  }

  /**
   * Returns the stock after the adjustments, and stores the adjustments. An adjustment changes no stock if it
   * is repeated, if its product is not counted yet, or if a count with the same or a later time includes it.
   */
  private async applyAdjustments(
    tx: Transaction,
    adjustments: readonly StockEventOfProduct[],
  ): Promise<StockLevelChange[]> {
    if (adjustments.length === 0) return [];
    const rows = await tx.rows<{ message_id: string }>(insertAdjustments, [
      adjustments.map(({ product }) => product.id),
      adjustments.map(({ product }) => product.effectiveAt),
      adjustments.map(({ event }) => event.messageId),
      adjustments.map(({ event }) => event.pieces),
    ]);
    const inserted = new Set(rows.map((row) => row.message_id));
    return adjustments.flatMap(({ event, product }) => {
      const { quantity, oversold, countedLater, countedAtSameTime } = product;
      const isRepeated = !inserted.has(event.messageId);
      const isIncludedInCount = countedLater || countedAtSameTime;
      if (isRepeated || isIncludedInCount || quantity === null) return [];
      return [{ event, product, level: requireStorable(event.sku, quantity - oversold + event.pieces) }];
    });
  }

  /** Writes the stock that differs from the stored one, and publishes it. */
  private async writeAndPublish(tx: Transaction, changes: readonly StockLevelChange[]): Promise<void> {
    const changed = changes.filter(
      ({ product, level: { quantity, oversold } }) =>
        !product.limited_edition || product.quantity !== quantity || product.oversold !== oversold,
    );
    if (changed.length === 0) return;
    const rows = await tx.rows<ProductRow>(setStockLevels, [
      changed.map(({ product }) => product.id),
      changed.map(({ level }) => level.quantity),
      changed.map(({ level }) => level.oversold),
    ]);
    const after = new Map(rows.map((row) => [row.id, row]));
    const stockChanges = changed.map(({ event, product }) => {
      const row = after.get(product.id);
      if (row === undefined) throw new Error('A locked product no longer exists.');
      const traceparent = traceparentOfEffect(event.traceparent, event.messageId);
      return { product: productSnapshot(row), previous: product.quantity, traceparent };
    });
    await this.stock.publishChanges(tx, stockChanges);
    this.logOversold(tx, changed);
  }

  private logOversold(tx: Transaction, changes: readonly StockLevelChange[]): void {
    for (const { event, product, level } of changes) {
      const { oversold } = level;
      if (oversold <= product.oversold) continue;
      const fields = { sku: event.sku, oversold, message_id: event.messageId };
      tx.afterCommit(() =>
        this.logger.warn(fields, 'More pieces are sold than the warehouse reports in stock.'),
      );
    }
  }
}

function filterByKind(
  events: readonly StockEventOfProduct[],
  kind: StockEvent['kind'],
): StockEventOfProduct[] {
  return events.filter(({ event }) => event.kind === kind);
}

/** Returns the stock for a balance. @throws RejectedMessage if it exceeds the maximum */
function requireStorable(sku: string, balance: number): StockLevel {
  if (Math.abs(balance) > maxStock)
    throw new RejectedMessage(`${sku} would have more than ${maxStock} pieces in stock or oversold`);
  return stockLevelOf(balance);
}
