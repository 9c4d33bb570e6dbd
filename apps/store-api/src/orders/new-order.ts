import { type Message, publicId, uuidv7 } from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';
import { outboxRow } from '@fulfilment/messaging';
import type { SellableLine } from '../catalogue/sellable-products.js';
import { lockUnlimitedProducts } from '../catalogue/stock.js';
import type { OpenCharge } from '../payments/payment-gateway.js';
import type { ItemRow, OrderRow } from './order-row.js';
import { countPieces } from './order.rules.js';
import type { OrderItemDto } from './place-order.dto.js';
import type { Placement } from './placement.js';
import type { PricedOrder } from './price-order.js';

// One statement, so that it needs one round trip. It writes nothing unless all of `unlimited` is locked and
// the claimed key could be attached to the order.
const insertNewOrder = statement(
  'orders.insert',
  `WITH unlimited AS (
     ${lockUnlimitedProducts('$20')}
   ), attached AS (
     UPDATE idempotency_keys SET order_id = $1, lease_until = now() + $25::int * interval '1 millisecond'
     WHERE creator_id = $2 AND client_id = $3 AND key = $24 AND claimed_by = $1 AND order_id IS NULL
       AND (SELECT count(*) FROM unlimited) = cardinality($20::uuid[])
     RETURNING key
   ), placed AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                         shipping_rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, resume_at,
                         created_at, updated_at, metadata, test)
     SELECT $1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'card', 'pending', $14,
            now() + $15::int * interval '1 millisecond', $19, $19, $26, $27
     WHERE EXISTS (SELECT FROM attached)
     RETURNING id
   ), items AS (
     INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, ean, quantity,
                              unit_amount, royalty_rate)
     SELECT placed.id, position, item.id, product_id, release_id, title, release_title, product_type, ean, quantity, unit_amount, royalty_rate
     FROM placed, json_to_recordset($16::json) AS item (position int, id uuid, product_id uuid, release_id uuid, title text,
                                                        release_title text, product_type text, ean text, quantity int, unit_amount bigint,
                                                        royalty_rate int)
   ), charge AS (
     INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, test)
     SELECT $17, id, 1, $14, $7, $18, 'pending', $27 FROM placed
   ), event AS (
     INSERT INTO outbox (message_id, type, body) SELECT $21, $22, $23::jsonb FROM placed
   )
   SELECT EXISTS (SELECT FROM placed) AS placed, (SELECT count(*) FROM unlimited) = cardinality($20::uuid[]) AS unlimited`,
);

/** The row of an order that was just placed. */
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
    total_amount: priced.total,
    item_count: countPieces(priced.lines),
    shipping_amount: priced.shippingAmount,
    country_code: address.country_code,
    billing_method: 'card',
    payment_status: 'pending',
    charge_amount: priced.cost,
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

/** An order as it is written, with what it depends on. */
export interface NewOrder {
  readonly row: OrderRow;
  readonly items: readonly ItemRow[];
  /** By `performance.now()`, soon after `row.created_at`. */
  readonly writtenAtMs: number;
  readonly rateId: string;
  readonly address: object;
  readonly charge: OpenCharge;
  /** `order.created` */
  readonly event: Message;
  /** The completer continues after this time if the order is not settled. */
  readonly resumeAfterMs: number;
  /** Its products that must stay unlimited. */
  readonly unlimitedProducts: readonly string[];
  /** The claimed key, to attach to the order. */
  readonly key: string;
  /** Until the key's lease ends a repeated request gets 409. */
  readonly keyLeaseMs: number;
}

export interface InsertOutcome {
  /** False if another request has claimed the key, or if a product is a limited edition. */
  readonly placed: boolean;
  /** Whether all of `unlimitedProducts` are unlimited. */
  readonly unlimited: boolean;
}

/**
 * Writes the order with its lines, its first charge and its event, and attaches its idempotency key; or
 * nothing at all, if `placed` is false.
 */
export async function insertOrder(sql: Sql, order: NewOrder): Promise<InsertOutcome> {
  const { row, rateId, items, address, charge, event, resumeAfterMs, unlimitedProducts, key, keyLeaseMs } =
    order;
  const [outcome] = await sql.rows<InsertOutcome>(insertNewOrder, [
    row.id,
    row.creator_id,
    row.client_id,
    row.platform,
    row.store_id,
    row.external_order_id,
    row.currency,
    row.total_amount,
    row.item_count,
    rateId,
    row.shipping_amount,
    JSON.stringify(address),
    row.country_code,
    row.charge_amount,
    resumeAfterMs,
    JSON.stringify(items.map((item, position) => ({ ...item, position }))),
    charge.id,
    charge.paymentMethod,
    row.created_at,
    unlimitedProducts,
    ...outboxRow(event),
    key,
    keyLeaseMs,
    JSON.stringify(row.metadata),
    row.test,
  ]);
  return outcome ?? { placed: false, unlimited: true };
}
