import { publicId, uuidv7 } from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';
import type { SellableLine } from '../catalogue/sellable-products.js';
import type { ItemRow, OrderRow } from './order-row.js';
import { countPieces } from './order.rules.js';
import type { OrderItemDto } from './place-order.dto.js';
import type { Placement } from './placement.js';
import type { PricedOrder } from './price-order.js';

const insertNewOrder = statement(
  'orders.insert',
  `WITH placed AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                         rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, resume_at,
                         created_at, updated_at)
     VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'card', 'pending', $14,
             now() + $15::int * interval '1 millisecond', $19, $19)
   ), items AS (
     INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, ean, quantity,
                              unit_amount, royalty_rate)
     SELECT $1, position, id, product_id, release_id, title, release_title, product_type, ean, quantity, unit_amount, royalty_rate
     FROM json_to_recordset($16::json) AS item (position int, id uuid, product_id uuid, release_id uuid, title text, release_title text,
                                                product_type text, ean text, quantity int, unit_amount bigint, royalty_rate int)
   )
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status)
   VALUES ($17, $1, 1, $14, $7, $18, 'pending')`,
);

/** The row of an order that was just placed. */
export function newOrder({ caller, creatorId, order, orderId }: Placement, priced: PricedOrder): OrderRow {
  const { source, shipping_address: address } = order;
  return {
    id: orderId,
    creator_id: creatorId,
    version: 1,
    status: 'pending',
    platform: source?.platform ?? 'api',
    store_id: source?.store_id ?? caller.clientId,
    external_order_id: source?.external_order_id ?? publicId('ord', orderId),
    currency: priced.currency,
    total_amount: priced.total,
    item_count: countPieces(priced.lines),
    rate_id: priced.rateId,
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
    created_at: priced.placedAt,
    updated_at: priced.placedAt,
  };
}

export function newItem(line: SellableLine<OrderItemDto>): ItemRow {
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

/**
 * Writes the order with its lines and its first charge. The completer resumes it after `resumeAfterMs` if it
 * is not settled.
 */
export async function insertOrder(
  sql: Sql,
  order: {
    readonly row: OrderRow;
    readonly clientId: string;
    readonly items: readonly ItemRow[];
    readonly address: object;
    readonly chargeId: string;
    readonly paymentMethod: string;
    readonly resumeAfterMs: number;
  },
): Promise<void> {
  const { row, clientId, items, address, chargeId, paymentMethod, resumeAfterMs } = order;
  await sql.run(insertNewOrder, [
    row.id,
    row.creator_id,
    clientId,
    row.platform,
    row.store_id,
    row.external_order_id,
    row.currency,
    row.total_amount,
    row.item_count,
    row.rate_id,
    row.shipping_amount,
    JSON.stringify(address),
    row.country_code,
    row.charge_amount,
    resumeAfterMs,
    JSON.stringify(items.map((item, position) => ({ ...item, position }))),
    chargeId,
    paymentMethod,
    row.created_at,
  ]);
}
