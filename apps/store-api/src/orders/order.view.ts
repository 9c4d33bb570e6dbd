import {
  type Currency,
  type Money,
  type OrderStatus,
  type PaymentMethod,
  type PaymentStatus,
  publicId,
} from '@fulfilment/contracts';
import { newestPackage, type OrderRow, type PackageRow } from './order-row.js';

export interface OrderSummary {
  readonly id: string;
  readonly status: OrderStatus;
  readonly total: Money;
  readonly item_count: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface TrackingView extends PackageRow {
  readonly updated_at: string;
  readonly packages: readonly PackageRow[];
}

export interface OrderView extends OrderSummary {
  readonly source: {
    readonly platform: string;
    readonly store_id: string;
    readonly external_order_id: string;
  };
  readonly line_items: readonly { sku: string; title: string; quantity: number; unit_price: Money }[];
  readonly shipping_address: Readonly<Record<string, string>>;
  readonly billing: {
    readonly method: PaymentMethod;
    readonly payment_status: PaymentStatus;
    readonly charged_at: string | null;
    readonly amount: Money;
  };
  readonly shipping: { readonly rate_id: string; readonly amount: Money };
  readonly tracking: TrackingView | null;
}

export type OrderSummaryRow = Pick<
  OrderRow,
  'id' | 'status' | 'total_amount' | 'currency' | 'item_count' | 'created_at' | 'updated_at'
>;

export interface OrderViewRow extends OrderRow {
  shipping_address: Record<string, string>;
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
    shipping: { rate_id: publicId('rate', row.rate_id), amount: money(row.shipping_amount, row.currency) },
    tracking: trackingView(row),
  };
}

function trackingView({ packages, tracking_updated_at, updated_at }: OrderRow): TrackingView | null {
  const newest = newestPackage(packages);
  if (newest === undefined) return null;
  return { ...newest, updated_at: (tracking_updated_at ?? updated_at).toISOString(), packages };
}

function money(amount: number, currency: Currency): Money {
  return { amount, currency };
}
