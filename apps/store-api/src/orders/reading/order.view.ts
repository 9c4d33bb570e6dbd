import { type Currency, type Money, publicId } from '@fulfilment/contracts';
import type { AddressView, OrderSummary, OrderView, TrackingView } from '../order.shapes.js';
import { type OrderRow, trackingTime } from '../order-row.js';

export type OrderSummaryRow = Pick<
  OrderRow,
  'id' | 'status' | 'total_amount' | 'currency' | 'item_count' | 'created_at' | 'updated_at' | 'test'
>;

export interface OrderViewRow extends Omit<
  OrderRow,
  'creator_id' | 'client_id' | 'version' | 'country_code' | 'refunded_at' | 'delivered_at'
> {
  rate_id: string;
  shipping_address: AddressView;
  items: { product_id: string; title: string; quantity: number; unit_amount: number }[];
}

export function orderSummary(row: OrderSummaryRow): OrderSummary {
  return {
    id: publicId('ord', row.id),
    status: row.status,
    total: money(row.total_amount, row.currency),
    item_count: row.item_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...(row.test && { livemode: false }),
  };
}

export function orderView(row: OrderViewRow): OrderView {
  return {
    ...orderSummary(row),
    source: { platform: row.platform, store_id: row.store_id, external_order_id: row.external_order_id },
    line_items: row.items.map((item) => ({
      sku: publicId('prod', item.product_id),
      title: item.title,
      quantity: item.quantity,
      unit_price: money(item.unit_amount, row.currency),
    })),
    shipping_address: row.shipping_address,
    billing: {
      method: row.billing_method,
      payment_status: row.payment_status,
      charged_at: row.charged_at?.toISOString() ?? null,
      amount: money(row.charge_amount, row.currency),
    },
    shipping: { rate_id: row.rate_id, amount: money(row.shipping_amount, row.currency) },
    tracking: trackingView(row),
    metadata: row.metadata,
  };
}

function trackingView(row: OrderViewRow): TrackingView | null {
  const { packages } = row;
  const newest = packages.at(-1);
  if (newest === undefined) return null;
  return { ...newest, updated_at: trackingTime(row).toISOString(), packages };
}

function money(amount: number, currency: Currency): Money {
  return { amount, currency };
}
