import type {
  OrderCancelled,
  OrderCreated,
  OrderDelivered,
  OrderPaymentFailed,
  OrderProcessing,
  OrderTracking,
  ProductInventory,
  ProductInventoryChanged,
  ProductPurchasable,
} from './event-data.js';

/** The version of event data that these types describe. A subscription keeps the version of its creation. */
export const apiVersion = '2026-11-01';

/** The data of each event. */
export type WebhookEventData = {
  readonly 'order.created': OrderCreated;
  readonly 'order.processing': OrderProcessing;
  readonly 'order.shipped': OrderTracking;
  readonly 'order.tracking_updated': OrderTracking;
  readonly 'order.delivered': OrderDelivered;
  readonly 'order.cancelled': OrderCancelled;
  readonly 'order.payment_failed': OrderPaymentFailed;
  readonly 'product.available': ProductPurchasable;
  readonly 'product.unavailable': ProductPurchasable;
  readonly 'product.inventory_changed': ProductInventoryChanged;
  readonly 'product.in_stock': ProductInventory;
  readonly 'product.out_of_stock': ProductInventory;
};
export type WebhookEventName = keyof WebhookEventData;

/** All events known to this version of the package. */
export const webhookEventNames = [
  'order.created',
  'order.processing',
  'order.shipped',
  'order.tracking_updated',
  'order.delivered',
  'order.cancelled',
  'order.payment_failed',
  'product.available',
  'product.unavailable',
  'product.inventory_changed',
  'product.in_stock',
  'product.out_of_stock',
] as const satisfies readonly WebhookEventName[];

/** The envelope of every event. */
export type Envelope<Name extends string, Data> = {
  /** The same for every attempt and retry: process each id once. */
  readonly id: string;
  readonly api_version: string;
  /** Time of the event, ISO 8601 in UTC. */
  readonly created_at: string;
  readonly event: Name;
  readonly data: Data;
};

/** One of the twelve events, discriminated by `event`. */
export type WebhookEvent = {
  [Name in WebhookEventName]: Envelope<Name, WebhookEventData[Name]>;
}[WebhookEventName];
