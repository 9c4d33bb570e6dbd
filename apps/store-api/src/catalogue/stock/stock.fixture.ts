import { publicId, uuidv7 } from '@fulfilment/contracts';
import { untilLockWaits } from '@fulfilment/database/testing';
import { type Database, statement } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { createLogger, systemClock } from '@fulfilment/runtime';
import { catalogueOf } from '../catalogue-file.fixture.js';
import { loadCatalogue } from '../load-catalogue.js';
import { ApplyStockEvents, type StockEvent } from './apply-stock-events.js';
import { BecameLimited, lockUnlimitedSql, Stock } from './stock.js';

const readTime = statement(
  'test.read-time',
  `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS now`,
);
const readProduct = statement(
  'test.read-product',
  'SELECT quantity, oversold, limited_edition AS limited FROM products WHERE id = $1',
);
const lockUnlimited = statement('test.lock-unlimited', lockUnlimitedSql('$1'));
// The order, its item and its charge have one id, since no test distinguishes them.
const insertOrder = statement(
  'test.insert-order',
  `WITH placed AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count, shipping_rate_id,
                         shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, created_at)
     VALUES (:id, :creator_id, 'c', 'processing', 'p', 's', 'e', 'GBP', 1, :pieces, 'rate', 1, '{}', 'GB', 'card', 'paid', 1, :created_at)
   ), item AS (
     INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, quantity, unit_amount, royalty_rate)
     VALUES (:id, 0, :id, :product_id, :product_id, '', '', '', :pieces, 1, 1)
   )
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status) VALUES (:id, :id, 1, 1, 'GBP', 'pm_ok', 'succeeded')`,
);
const cancelOrder = statement(
  'test.cancel-order',
  "UPDATE orders SET status = 'cancelled' WHERE id = $1 AND status IN ('pending', 'processing')",
);
const setChargePending = statement(
  'test.set-charge-pending',
  `WITH charge AS (UPDATE charges SET status = 'pending' WHERE order_id = $1)
   UPDATE orders SET status = 'pending', payment_status = 'pending' WHERE id = $1`,
);
const declineOrder = statement(
  'test.decline-order',
  `WITH charge AS (UPDATE charges SET status = 'declined' WHERE order_id = $1)
   UPDATE orders SET status = 'payment_failed', payment_status = 'failed' WHERE id = $1`,
);
const readChangesSince = statement(
  'test.changes-since',
  `SELECT (SELECT count(*)::int FROM orders o JOIN order_items i ON i.order_id = o.id
           WHERE i.product_id = $1 AND o.created_at > $2 AND o.status <> 'cancelled'
             AND NOT EXISTS (SELECT FROM stock_movements WHERE order_id = o.id AND kind = 'taken')) AS untaken,
          (SELECT coalesce(sum(CASE kind WHEN 'taken' THEN -quantity ELSE quantity END), 0)::int FROM stock_movements
           WHERE product_id = $1 AND moved_at > $2) AS changes`,
);
const productMessages = statement(
  'test.product-events',
  `SELECT type, (body->'data'->>'previous_quantity')::int AS previous, (body->'data'->'product'->>'quantity')::int AS quantity
   FROM outbox WHERE body->'data'->'product'->>'id' = $1 ORDER BY (body->'data'->'product'->>'version')::int, type`,
);

/**
 * Creates one product. Returns functions that sell it, return its pieces and apply stock events, as the
 * service does. Its orders have only the rows that these functions read.
 * @param quantity pieces of a limited edition, or null for an unlimited product
 */
export async function stockOfOneProduct(database: Database, quantity: number | null) {
  const creatorId = uuidv7();
  const { file, productIds } = catalogueOf(creatorId, [{ quantity }]);
  const [productId = ''] = productIds;
  await loadCatalogue(database, file);
  const stock = new Stock(new Outbox(), systemClock);
  const stockEvents = new ApplyStockEvents(stock, createLogger('test', 'silent'));
  const sku = publicId('prod', productId);
  const read = async () => {
    type Row = { quantity: number | null; oversold: number; limited: boolean };
    const row = await database.row<Row>(readProduct, [productId]);
    if (row === undefined) throw new Error('The product does not exist.');
    return row;
  };
  const nowInDatabase = async () => (await database.row<{ now: string }>(readTime))?.now ?? '';
  /** Returns undefined when there are too few pieces. */
  const sell = async (pieces: number): Promise<{ orderId: string; limited: boolean } | undefined> => {
    for (;;) {
      const { limited } = await read();
      const orderId = uuidv7();
      const placedAt = await nowInDatabase();
      try {
        return await database.transaction(async (tx) => {
          await tx.run(insertOrder, {
            id: orderId,
            creator_id: creatorId,
            product_id: productId,
            pieces,
            created_at: placedAt,
          });
          if (!limited && (await tx.run(lockUnlimited, [[productId]])) === 0) throw new BecameLimited();
          const insufficient = limited
            ? await stock.take(tx, orderId, [{ productId, quantity: pieces }])
            : [];
          if (insufficient.length > 0) throw new SoldOut();
          return { orderId, limited };
        });
      } catch (error) {
        if (error instanceof SoldOut) return undefined;
        if (!(error instanceof BecameLimited)) throw error;
      }
    }
  };
  const apply = (event: Omit<StockEvent, 'sku'>) =>
    database.transaction((tx) => stockEvents.run(tx, [{ ...event, sku }]));
  return {
    read,
    sell,
    /** PostgreSQL's time in microseconds, as a text that sorts by time. */
    now: nowInDatabase,
    /** Makes the charge of an order pending, as after a request without a response of the provider. */
    makeChargePending: (orderId: string) => database.run(setChargePending, [orderId]),
    /** Cancels an order, and returns its pieces. */
    cancel: (orderId: string) =>
      database.transaction(async (tx) => {
        await tx.run(cancelOrder, [orderId]);
        await stock.returnStock(tx, orderId);
      }),
    /**
     * Declines an order whose charge was pending, as SettleOrder does. Returns a function that commits when
     * another transaction waits for a lock.
     */
    declineUncommitted: async (orderId: string): Promise<() => Promise<void>> => {
      await database.run(setChargePending, [orderId]);
      const settling = await database.begin();
      await settling.tx.run(declineOrder, [orderId]);
      await stock.returnStock(settling.tx, orderId);
      return async () => {
        await untilLockWaits(database);
        await settling.commit();
      };
    },
    count: (counted: number, countedAt: string) =>
      apply({ kind: 'count', pieces: counted, occurredAt: countedAt, messageId: uuidv7() }),
    adjust: (delta: number, occurredAt: string, messageId = uuidv7()) =>
      apply({ kind: 'adjustment', pieces: delta, occurredAt, messageId }),
    /** Number of orders after a time for which no pieces were taken, and the sum of the movements since. */
    changesSince: (time: string) =>
      database.row<{ untaken: number; changes: number }>(readChangesSince, [productId, time]),
    /** Messages about the product, by version. */
    events: () =>
      database.rows<{ type: string; previous: number | null; quantity: number | null }>(productMessages, [
        productId,
      ]),
  };
}

export type StockOfOneProduct = Awaited<ReturnType<typeof stockOfOneProduct>>;

class SoldOut extends Error {}
