import type {
  Currency,
  OrderSnapshot,
  OrderStatus,
  PaymentMethod,
  PaymentStatus,
} from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';

/** Pieces of a product in a package. */
export interface PackedItem {
  /** The public id of the product. */
  readonly sku: string;
  readonly quantity: number;
}

/** A package of an order, as the column `packages` contains it. */
export interface PackageRow {
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
  readonly shipped_at: string;
  readonly delivered_at: string | null;
  /** Absent if the warehouse did not report the items. */
  readonly items?: PackedItem[];
}

/** An order as `orderColumns` reads it. Amounts are in minor units of `currency`. */
export interface OrderRow {
  id: string;
  creator_id: string;
  client_id: string;
  version: number;
  status: OrderStatus;
  platform: string;
  store_id: string;
  external_order_id: string;
  currency: Currency;
  total_amount: number;
  item_count: number;
  shipping_amount: number;
  country_code: string;
  /** Published as `payment.method`. */
  billing_method: PaymentMethod;
  payment_status: PaymentStatus;
  /** What the creator pays. */
  charge_amount: number;
  charged_at: Date | null;
  refunded_at: Date | null;
  /** Ordered by `shipped_at`; the top level of `tracking` shows the members of the last one. */
  packages: PackageRow[];
  tracking_updated_at: Date | null;
  delivered_at: Date | null;
  metadata: Readonly<Record<string, string>>;
  /** Whether it is an order of a test creator. */
  test: boolean;
  created_at: Date;
  updated_at: Date;
}

/** A line of an order. `unit_amount` is in minor units, `royalty_rate` in basis points. */
export interface ItemRow {
  id: string;
  product_id: string;
  release_id: string;
  title: string;
  release_title: string;
  product_type: string;
  ean: string | null;
  quantity: number;
  unit_amount: number;
  royalty_rate: number;
}

export const orderColumns =
  'id, creator_id, client_id, version, status, platform, store_id, external_order_id, currency, total_amount, item_count, ' +
  'shipping_amount, country_code, billing_method, payment_status, charge_amount, charged_at, refunded_at, packages, ' +
  'tracking_updated_at, delivered_at, metadata, test, created_at, updated_at';

const itemColumns =
  'id, product_id, release_id, title, release_title, product_type, ean, quantity, unit_amount, royalty_rate';
const selectItems = statement(
  'orders.items-of-orders',
  `SELECT order_id, ${itemColumns} FROM order_items WHERE order_id = ANY ($1::uuid[]) ORDER BY order_id, position`,
);

/** Reads the items of several orders, by the order's UUID. */
export async function readItemsOfOrders(
  sql: Sql,
  orderIds: readonly string[],
): Promise<Map<string, ItemRow[]>> {
  const rows = await sql.rows<ItemRow & { order_id: string }>(selectItems, [orderIds]);
  const items = new Map<string, ItemRow[]>(orderIds.map((id) => [id, []]));
  for (const { order_id: orderId, ...item } of rows) items.get(orderId)?.push(item);
  return items;
}

export async function readItems(sql: Sql, orderId: string): Promise<ItemRow[]> {
  return (await readItemsOfOrders(sql, [orderId])).get(orderId) ?? [];
}

/** Returns the order as messages contain it. */
export function orderSnapshot(row: OrderRow, items: readonly ItemRow[]): OrderSnapshot {
  const newest = row.packages.at(-1);
  return {
    id: row.id,
    version: row.version,
    creator_id: row.creator_id,
    client_id: row.client_id,
    status: row.status,
    source: { platform: row.platform, store_id: row.store_id, external_order_id: row.external_order_id },
    placed_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    currency: row.currency,
    country_code: row.country_code,
    total_amount: row.total_amount,
    shipping_amount: row.shipping_amount,
    item_count: row.item_count,
    payment: {
      method: row.billing_method,
      status: row.payment_status,
      charged_at: row.charged_at?.toISOString() ?? null,
      refunded_at: row.refunded_at?.toISOString() ?? null,
    },
    tracking:
      newest === undefined
        ? null
        : {
            carrier: newest.carrier,
            tracking_number: newest.tracking_number,
            tracking_url: newest.tracking_url,
            updated_at: trackingTime(row).toISOString(),
            ...(newest.items !== undefined && { items: newest.items }),
          },
    delivered_at: row.delivered_at?.toISOString() ?? null,
    ...(row.test && { test: true }),
    ...(Object.keys(row.metadata).length > 0 && { metadata: row.metadata }),
    items: items.map(({ title: _title, ...item }) => item), // messages have only the title of the release
  };
}

/**
 * Returns when the tracking of a package last changed or, after the delivery, anything in the packages. An
 * order with packages has `tracking_updated_at`, so `updated_at` only satisfies the type.
 */
export function trackingTime({
  tracking_updated_at,
  updated_at,
}: Pick<OrderRow, 'tracking_updated_at' | 'updated_at'>): Date {
  return tracking_updated_at ?? updated_at;
}
