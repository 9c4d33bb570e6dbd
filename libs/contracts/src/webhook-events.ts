import { z } from 'zod';

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

export function isWebhookEvent(name: unknown): name is WebhookEvent {
  return webhookEvents.some((event) => event === name);
}

/** What a subscriber's URL receives (interface.md, Delivery envelope). */
export const webhookEnvelopeShape = z
  .object({
    id: z
      .string()
      .regex(/^evt_/)
      .describe('The event: the same for every attempt and for whatever is sent again. Act on each once'),
    api_version: z
      .string()
      .describe("The payload's form, a date; the subscription keeps the one it was made with"),
    created_at: z.iso.datetime().describe('When it happened'),
    event: z.enum(webhookEvents).describe('What happened'),
    data: z.record(z.string(), z.unknown()).describe('What the event tells: see the event of this name'),
  })
  .meta({ id: 'WebhookEnvelope', description: 'The body of a delivery.' });
export type WebhookEnvelope = z.infer<typeof webhookEnvelopeShape>;
