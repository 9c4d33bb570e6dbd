import { messages } from '@fulfilment/contracts';
import { Database, pipelined, type Sql, statement, type Transaction } from '@fulfilment/database';
import { DependencyUnavailable, Unprocessable } from '@fulfilment/error-envelope';
import { keyInUse } from '@fulfilment/http-service';
import { Outbox, outboxRow } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { BecameLimited, lockUnlimitedSql, Stock } from '../../catalogue/stock/stock.js';
import { CONFIG, type StoreApiSettings } from '../../config.js';
import { FaultPoints } from '../../fault-points.js';
import { IdempotencyKeys } from '../idempotency-keys.js';
import { newOrder, type NewOrder } from './new-order.js';
import { orderSnapshot } from '../order-row.js';
import type { Placement } from './placement.js';
import type { PricedOrder } from '../pricing/price-order.js';

/** Time for settling the order after the provider's timeout, until the lease of the key ends. */
const leaseMarginMs = 2_000;
/** Time for finding the order after a lost connection: a crashed PostgreSQL has usually restarted by then. */
const findOrderTimeoutMs = 8_000;
const retryDelayMs = 50;

// One statement, so that it needs one round trip. It writes the order only if all products of
// `unlimited_products` are still unlimited and this request still holds the claim of the key.
const insertOrder = statement(
  'orders.insert',
  `WITH unlimited AS (
     ${lockUnlimitedSql(':unlimited_products')}
   ), attached AS (
     UPDATE idempotency_keys SET order_id = :id, lease_until = now() + :key_lease_ms::int * interval '1 millisecond'
     WHERE creator_id = :creator_id AND client_id = :client_id AND key = :key AND claimed_by = :id AND order_id IS NULL
       AND (SELECT count(*) FROM unlimited) = cardinality(:unlimited_products::uuid[])
     RETURNING key
   ), inserted AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                         shipping_rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount,
                         resume_at, created_at, updated_at, metadata, test)
     SELECT :id, :creator_id, :client_id, :status, :platform, :store_id, :external_order_id, :currency, :total_amount, :item_count,
            :rate_id, :shipping_amount, :address, :country_code, :billing_method, :payment_status, :charge_amount,
            now() + :resume_after_ms::int * interval '1 millisecond', :created_at, :created_at, :metadata, :test
     WHERE EXISTS (SELECT FROM attached)
     RETURNING id
   ), items AS (
     INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, ean, quantity,
                              unit_amount, royalty_rate)
     SELECT inserted.id, position, item.id, product_id, release_id, title, release_title, product_type, ean, quantity, unit_amount, royalty_rate
     FROM inserted, json_to_recordset(:items::json) AS item (position int, id uuid, product_id uuid, release_id uuid, title text,
                                                           release_title text, product_type text, ean text, quantity int,
                                                           unit_amount bigint, royalty_rate int)
   ), charge AS (
     INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, test)
     SELECT :charge_id, id, 1, :charge_amount, :currency, :payment_method, 'pending', :test FROM inserted
   ), event AS (
     INSERT INTO outbox (message_id, type, body) SELECT :message_id, :routing_key, :message_body::jsonb FROM inserted
   )
   SELECT EXISTS (SELECT FROM inserted) AS "isInserted",
          (SELECT count(*) FROM unlimited) = cardinality(:unlimited_products::uuid[]) AS "areUnlimited"`,
);

const findOrder = statement('orders.find', 'SELECT id FROM orders WHERE id = $1');

/** Writes a new order in one commit: its stock, its rows, its first charge and `order.created`. */
@Injectable()
export class WriteOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
  ) {}

  /**
   * @throws BecameLimited when the order has to be priced again; Unprocessable when too few pieces are left;
   *   Conflict when another request has claimed the key
   */
  async run(placement: Placement, priced: PricedOrder): Promise<NewOrder> {
    const order = newOrder(placement, priced);
    const takesStock = priced.lines.some(({ limitedEdition }) => limitedEdition);
    try {
      if (takesStock) {
        await this.database.transaction(async (tx) => {
          await pipelined([
            this.insert(tx, order, placement, priced),
            this.takeStock(tx, placement.orderId, priced.lines),
          ]);
          this.faultPoints.pass('order-written');
        });
      } else {
        // The insert is one statement, so it needs no transaction.
        await this.insert(this.database, order, placement, priced);
      }
    } catch (error) {
      if (!(error instanceof DependencyUnavailable)) throw error;
      // The connection may have been lost after the commit.
      if (!(await this.releaseKeyAndFindOrder(placement))) throw error;
    }
    this.outbox.wakeRelay();
    return order;
  }

  /**
   * Returns whether the order is committed. If not, it never will be: its statement needs the claim of the
   * key, which is released here. Retries both steps until they succeed.
   * @throws the last error after `findOrderTimeoutMs`
   */
  private async releaseKeyAndFindOrder({ keyScope, orderId }: Placement): Promise<boolean> {
    const deadlineMs = performance.now() + findOrderTimeoutMs;
    for (;;) {
      try {
        // Waits for a commit in progress. Does not release the key of an order that is committed.
        await this.keys.release(keyScope, orderId);
        return (await this.database.row(findOrder, [orderId])) !== undefined;
      } catch (error) {
        if (performance.now() > deadlineMs) throw error;
        await delay(retryDelayMs);
      }
    }
  }

  /** Runs `insertOrder`. @throws BecameLimited; Conflict when another request has claimed the key */
  private async insert(
    sql: Sql,
    { row, items, charge }: NewOrder,
    { order, keyScope }: Placement,
    priced: PricedOrder,
  ): Promise<void> {
    const { PAYMENT_TIMEOUT_MS, RESUME_AFTER_MS } = this.config;
    const unlimited = priced.lines.flatMap(({ id, limitedEdition }) => (limitedEdition ? [] : [id]));
    const created = messages.orderCreated.make(
      { order: orderSnapshot(row, items) },
      { occurredAt: this.clock() },
    );
    const outcome = await sql.row<{ isInserted: boolean; areUnlimited: boolean }>(insertOrder, {
      ...row,
      metadata: JSON.stringify(row.metadata),
      rate_id: order.shipping_rate_id,
      address: JSON.stringify(order.shipping_address),
      items: JSON.stringify(items.map((item, position) => ({ ...item, position }))),
      charge_id: charge.id,
      payment_method: charge.paymentMethod,
      resume_after_ms: PAYMENT_TIMEOUT_MS + RESUME_AFTER_MS,
      unlimited_products: [...new Set(unlimited)],
      key: keyScope.key,
      key_lease_ms: PAYMENT_TIMEOUT_MS + leaseMarginMs,
      ...outboxRow(created),
    });
    if (outcome === undefined) throw new Error('PostgreSQL returned no row for a new order.');
    if (!outcome.areUnlimited) throw new BecameLimited();
    if (!outcome.isInserted) throw keyInUse();
  }

  /**
   * Takes the pieces of the limited editions.
   * @throws Unprocessable with a detail for each line with too few pieces in stock
   */
  private async takeStock(tx: Transaction, orderId: string, lines: PricedOrder['lines']): Promise<void> {
    const limited = lines.filter(({ limitedEdition }) => limitedEdition);
    const outOfStock = await this.stock.take(
      tx,
      orderId,
      limited.map(({ id, quantity }) => ({ productId: id, quantity })),
    );
    const details = lines.flatMap(({ id }, index) =>
      outOfStock.includes(id) ? [{ field: `items.${index}.sku`, reason: 'insufficient_stock' }] : [],
    );
    if (details.length > 0) throw new Unprocessable('Some items cannot be ordered.', details);
  }
}
