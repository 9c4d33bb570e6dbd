import { type Message, publicId, uuidv7 } from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';
import { outboxRow } from '@fulfilment/messaging';
import type { SellableLine } from '../../catalogue/sellable-products.js';
import { lockUnlimitedSql } from '../../catalogue/stock/stock.js';
import type { OpenCharge } from '../../payments/payment-gateway.js';
import type { ItemRow, OrderRow } from '../order-row.js';
import { countPieces } from '../order.rules.js';
import type { OrderItemDto } from '../place-order.dto.js';
import type { Placement } from './placement.js';
import type { PricedOrder } from '../pricing/price-order.js';

// One statement, so that it needs one round trip. It writes nothing unless all products of
// `unlimited_products` are still unlimited and the claimed key could be attached to the order.
const insertNewOrder = statement(
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
   SELECT EXISTS (SELECT FROM inserted) AS inserted,
          (SELECT count(*) FROM unlimited) = cardinality(:unlimited_products::uuid[]) AS unlimited`,
);

/** Returns the row of an order that is about to be written. */
export function newOrderRow({ caller, creatorId, order, orderId }: Placement, priced: PricedOrder): OrderRow {
  const { source, shipping_address: address } = order;
  return {
    id: orderId,
    creator_id: creatorId,
    client_id: caller.clientId,
    version: 1,
    status: 'pending',
    platform: source?.platform ?? 'api',
    store_id: source?.store_id ?? caller.clientId,
    external_order_id: source?.external_order_id ?? publicId('ord', orderId),
    currency: priced.currency,
    total_amount: priced.total, // what the merchant's customer paid
    item_count: countPieces(priced.lines),
    shipping_amount: priced.shippingAmount,
    country_code: address.country_code,
    billing_method: 'card',
    payment_status: 'pending',
    charge_amount: priced.cost, // what the creator pays
    charged_at: null,
    refunded_at: null,
    packages: [],
    tracking_updated_at: null,
    delivered_at: null,
    reason: null,
    metadata: order.metadata ?? {},
    test: priced.test,
    created_at: priced.placedAt,
    updated_at: priced.placedAt,
  };
}

export function newItemRow(line: SellableLine<OrderItemDto>): ItemRow {
  return {
    id: uuidv7(),
    product_id: line.id,
    release_id: line.releaseId,
    title: line.title,
    release_title: line.releaseTitle,
    product_type: line.productType,
    ean: line.ean,
    quantity: line.quantity,
    unit_amount: line.unit_price.amount,
    royalty_rate: line.royaltyRate,
  };
}

/** An order to write, with its first charge, its event and the key of its request. */
export interface NewOrder {
  readonly row: OrderRow;
  readonly items: readonly ItemRow[];
  /**
   * `performance.now()` soon after `row.created_at`. Settling sets `updated_at` to `created_at` plus the time
   * since then.
   */
  readonly createdAtMs: number;
  readonly rateId: string;
  readonly address: object;
  readonly charge: OpenCharge;
  /** `order.created` */
  readonly event: Message;
  /** The completer continues after this time if the order is not settled. */
  readonly resumeAfterMs: number;
  /** Its products that must stay unlimited. */
  readonly unlimitedProducts: readonly string[];
  /** The claimed idempotency key, which is attached to the order. */
  readonly key: string;
  /** Until this time has passed, a repeated request gets 409 unless the key has a response. */
  readonly keyLeaseMs: number;
}

export interface InsertOutcome {
  /** False if another request has claimed the key, or if not all of `unlimitedProducts` are unlimited. */
  readonly inserted: boolean;
  /** Whether all of `unlimitedProducts` are unlimited. */
  readonly unlimited: boolean;
}

/**
 * Writes the order with its lines, its first charge and its event, and attaches its idempotency key; or
 * nothing at all, if `inserted` is false.
 */
export async function insertOrder(sql: Sql, order: NewOrder): Promise<InsertOutcome> {
  const outcome = await sql.row<InsertOutcome>(insertNewOrder, {
    ...order.row,
    metadata: JSON.stringify(order.row.metadata),
    rate_id: order.rateId,
    address: JSON.stringify(order.address),
    items: JSON.stringify(order.items.map((item, position) => ({ ...item, position }))),
    charge_id: order.charge.id,
    payment_method: order.charge.paymentMethod,
    resume_after_ms: order.resumeAfterMs,
    unlimited_products: order.unlimitedProducts,
    key: order.key,
    key_lease_ms: order.keyLeaseMs,
    ...outboxRow(order.event),
  });
  if (outcome === undefined) throw new Error('PostgreSQL returned no row for a new order.');
  return outcome;
}
