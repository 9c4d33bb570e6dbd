/** The business events a subscriber may ask for. */
export const webhookEvents = [
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
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export function isWebhookEvent(name: string): name is WebhookEvent {
  return webhookEvents.some((event) => event === name);
}

/** What a subscriber's URL receives (interface.md, Delivery envelope). */
export interface WebhookEnvelope {
  readonly id: string;
  readonly api_version: string;
  readonly created_at: string;
  readonly event: WebhookEvent;
  readonly data: Readonly<Record<string, unknown>>;
}
