import { publicId, uuidv7 } from '@fulfilment/contracts';
import type { SellableLine } from '../../catalogue/sellable-products.js';
import type { OpenCharge } from '../../payments/payment-gateway.js';
import type { ItemRow, OrderRow } from '../order-row.js';
import { countPieces } from '../order.rules.js';
import type { OrderItemDto } from '../place-order.dto.js';
import type { PricedOrder } from '../pricing/price-order.js';
import type { Placement } from './placement.js';

/** The rows of an order to write, with its first charge. */
export interface NewOrder {
  readonly row: OrderRow;
  readonly items: readonly ItemRow[];
  readonly charge: OpenCharge;
  /**
   * Monotonic time at which the row was built. Settling adds the time since then to `created_at`, which gives
   * `updated_at`.
   */
  readonly createdAtMonotonicMs: number;
}

export function newOrder({ caller, creatorId, order, orderId }: Placement, priced: PricedOrder): NewOrder {
  const { source, shipping_address: address } = order;
  const row: OrderRow = {
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
    metadata: order.metadata ?? {},
    test: priced.isTest,
    created_at: priced.placedAt,
    updated_at: priced.placedAt,
  };
  return {
    row,
    items: priced.lines.map(newItemRow),
    charge: {
      id: uuidv7(),
      orderId,
      amount: { amount: priced.cost, currency: priced.currency },
      paymentMethod: priced.paymentMethod,
      reference: null,
      createdAt: priced.placedAt,
      isFirstRequest: true,
      isTest: priced.isTest,
    },
    createdAtMonotonicMs: performance.now(),
  };
}

function newItemRow(line: SellableLine<OrderItemDto>): ItemRow {
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
