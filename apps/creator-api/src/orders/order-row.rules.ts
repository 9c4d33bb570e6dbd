import type { DispatchStatus, OrderSnapshot, OrderStatus } from '@fulfilment/contracts';
import { lineAmounts } from './line-amounts.rules.js';
import { standardVatRate } from './vat-rates.rules.js';

/** The dispatch status for each status of an order in store-api. */
const dispatchStatusByOrderStatus = {
  pending: 'pending',
  payment_failed: 'pending',
  processing: 'in_production',
  shipped: 'dispatched',
  delivered: 'delivered',
  cancelled: 'cancelled',
} as const satisfies Record<OrderStatus, DispatchStatus>;

export type OrderRow = ReturnType<typeof orderRow>;

/**
 * Converts a snapshot to a row of the read model. Its amounts are the sums of its lines, as exact text:
 * `projectOrders` rejects an order whose total exceeds `maxAmount`, so it must not be rounded before.
 */
export function orderRow(order: OrderSnapshot) {
  const vatRate = standardVatRate(order.country_code);
  const items = order.items.map((item, position) => {
    const { total_amount, vat_amount, royalty_amount } = lineAmounts(item, vatRate);
    return {
      order_id: order.id,
      position,
      id: item.id,
      creator_id: order.creator_id,
      release_id: item.release_id,
      release_title: item.release_title,
      product_type: item.product_type,
      ean: item.ean ?? '',
      quantity: item.quantity,
      unit_amount: item.unit_amount,
      royalty_rate: item.royalty_rate,
      total_amount: String(total_amount),
      vat_amount: String(vat_amount),
      royalty_amount: String(royalty_amount),
    };
  });
  return {
    id: order.id,
    creator_id: order.creator_id,
    client_id: order.client_id ?? null,
    version: order.version,
    placed_at: order.placed_at,
    currency: order.currency,
    payment_status: order.payment.status,
    dispatch_status: dispatchStatusByOrderStatus[order.status],
    tracking_code: order.tracking?.tracking_number ?? '',
    gross_amount: sum(items.map((item) => item.total_amount)),
    royalty_amount: sum(items.map((item) => item.royalty_amount)),
    item_count: order.item_count,
    country_code: order.country_code,
    platform: order.source.platform,
    charged_at: order.payment.charged_at,
    refunded_at: order.payment.refunded_at,
    items,
  };
}

function sum(amounts: readonly string[]): string {
  return String(amounts.reduce((total, amount) => total + BigInt(amount), 0n));
}
