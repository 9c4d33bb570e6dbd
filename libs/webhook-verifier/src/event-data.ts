/**
 * What each event tells, as `api_version` 2026-11-01 has it. Type aliases, not interfaces, so that they are still
 * records of unknown members to those who only pass them on. Members may be added to them, and states to their lists.
 */

/** In minor units: 2999 and `GBP` are £29.99, 4800 and `JPY` are ¥4800. */
export type Money = {
  readonly amount: number;
  readonly currency: 'EUR' | 'GBP' | 'USD' | 'JPY';
};

export type OrderStatus = 'pending' | 'processing' | 'payment_failed' | 'shipped' | 'delivered' | 'cancelled';
export type CatalogueStatus = 'available' | 'pending' | 'unavailable';

/** Where an order came from: the shop system, the shop, and its own number of the order. */
export type OrderSource = {
  readonly platform: string;
  readonly store_id: string;
  readonly external_order_id: string;
};

type OrderState = {
  readonly order_id: string;
  /** Where it stood when this happened. */
  readonly status: OrderStatus;
  /** ISO 8601 in UTC, growing with each change of the order: events may come out of order. */
  readonly updated_at: string;
};

export type OrderCreated = OrderState & {
  readonly source: OrderSource;
  /** What the merchant charged. */
  readonly total: Money;
  /** Pieces, over all lines. */
  readonly item_count: number;
};
export type OrderProcessing = OrderState;
export type OrderDelivered = OrderState & { readonly delivered_at: string };
export type OrderCancelled = OrderState & { readonly reason: string };
export type OrderPaymentFailed = OrderState & { readonly total: Money; readonly reason: string };

/** The newest package of an order. */
export type OrderTracking = {
  readonly order_id: string;
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
  readonly updated_at: string;
};

type ProductState = {
  readonly product_id: string;
  readonly release_id: string;
  /** ISO 8601 in UTC, growing with each change of the product: events may come out of order. */
  readonly updated_at: string;
};

export type ProductPurchasable = ProductState & { readonly status: CatalogueStatus };
/** `quantity`: pieces left; null for what is no limited edition. */
export type ProductInventory = ProductState & { readonly quantity: number | null };
/** `previous_quantity`: null when it was no limited edition before, and had no limit. */
export type ProductInventoryChanged = ProductInventory & { readonly previous_quantity: number | null };
