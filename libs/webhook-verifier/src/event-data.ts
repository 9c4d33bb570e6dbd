/**
 * The data of each event in `api_version` 2026-11-01. New members and new states may be added. These are type
 * aliases, since an interface cannot be assigned to `Record<string, unknown>`, the data of a `ReceivedEvent`.
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

/** The `metadata` that the client sent with the order. */
export type OrderMetadata = Readonly<Record<string, string>>;

/** Optional members of every event of an order. */
type OrderOptions = {
  /** `false` for an order of a test creator; absent for a live one. */
  readonly livemode?: false;
  /** Absent if the order has none. */
  readonly metadata?: OrderMetadata;
};

type OrderState = OrderOptions & {
  readonly order_id: string;
  /** Status at the time of the event. */
  readonly status: OrderStatus;
  /** ISO 8601 in UTC. Increases with each change of the order: a later time is a newer state. */
  readonly updated_at: string;
};

export type OrderCreated = OrderState & {
  readonly source: OrderSource;
  /** Amount that the merchant charged. */
  readonly total: Money;
  /** Number of pieces in all lines. */
  readonly item_count: number;
};
export type OrderProcessing = OrderState;
export type OrderDelivered = OrderState & {
  /** When the last package was delivered, ISO 8601 in UTC. */
  readonly delivered_at: string;
};
export type OrderCancelled = OrderState & {
  /** A text for people. */
  readonly reason: string;
};
export type OrderPaymentFailed = OrderState & {
  /** Amount that the merchant charged. */
  readonly total: Money;
  /** A text for people. */
  readonly reason: string;
};

/**
 * Data of `order.shipped` and `order.tracking_updated`. It describes the package of the order that was handed
 * to a carrier last.
 */
export type OrderTracking = OrderOptions & {
  readonly order_id: string;
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
  /**
   * When the tracking of any package of the order last changed, even after the order was delivered. ISO 8601
   * in UTC.
   */
  readonly updated_at: string;
  /** The content of the package; absent if the warehouse did not report it. */
  readonly items?: PackageItem[];
};

export type PackageItem = {
  readonly sku: string;
  /** Number of pieces. */
  readonly quantity: number;
};

type ProductState = {
  readonly product_id: string;
  readonly release_id: string;
  /** ISO 8601 in UTC. Increases with each change of the product: a later time is a newer state. */
  readonly updated_at: string;
};

/** Data of `product.available` and `product.unavailable`. */
export type ProductPurchasable = ProductState & { readonly status: CatalogueStatus };
/** Data of `product.in_stock` and `product.out_of_stock`. */
export type ProductInventory = ProductState & {
  /** Pieces left; null unless the product is a limited edition. */
  readonly quantity: number | null;
};
export type ProductInventoryChanged = ProductInventory & {
  /** Null if the product was not a limited edition before. */
  readonly previous_quantity: number | null;
};
