/**
 * The data of each event in `api_version` 2026-11-01. Type aliases rather than interfaces, so that they are
 * assignable to records of unknown members. New members and new states may be added.
 */

/** `amount` is in minor units: 2999 `GBP` is £29.99, 4800 `JPY` is ¥4800. */
export type Money = {
  readonly amount: number;
  readonly currency: 'EUR' | 'GBP' | 'USD' | 'JPY';
};

export type OrderStatus = 'pending' | 'processing' | 'payment_failed' | 'shipped' | 'delivered' | 'cancelled';
export type CatalogueStatus = 'available' | 'pending' | 'unavailable';

/** Origin of an order: the shop system, the shop, and the shop's own order number. */
export type OrderSource = {
  readonly platform: string;
  readonly store_id: string;
  readonly external_order_id: string;
};

/** The `metadata` that the client sent with the order; absent if it sent none. */
export type OrderMetadata = Readonly<Record<string, string>>;

type OrderState = {
  readonly order_id: string;
  /** Status at the time of the event. */
  readonly status: OrderStatus;
  /** ISO 8601 in UTC. Increases with each change of the order, since events may arrive out of order. */
  readonly updated_at: string;
  /** `false` for an order of a test creator; missing for a live one. */
  readonly livemode?: false;
  readonly metadata?: OrderMetadata;
};

export type OrderCreated = OrderState & {
  readonly source: OrderSource;
  /** Amount that the merchant charged. */
  readonly total: Money;
  /** Number of pieces in all lines. */
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
  /** The content of the package; missing if the warehouse did not report it. */
  readonly items?: PackageItem[];
  /** `false` for an order of a test creator; missing for a live one. */
  readonly livemode?: false;
  readonly metadata?: OrderMetadata;
};

export type PackageItem = {
  readonly sku: string;
  /** Number of pieces. */
  readonly quantity: number;
};

type ProductState = {
  readonly product_id: string;
  readonly release_id: string;
  /** ISO 8601 in UTC. Increases with each change of the product, since events may arrive out of order. */
  readonly updated_at: string;
};

export type ProductPurchasable = ProductState & { readonly status: CatalogueStatus };
/** `quantity`: pieces left; null unless the product is a limited edition. */
export type ProductInventory = ProductState & { readonly quantity: number | null };
/** `previous_quantity`: null if the product was not a limited edition before. */
export type ProductInventoryChanged = ProductInventory & { readonly previous_quantity: number | null };
