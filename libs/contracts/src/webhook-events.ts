import { z } from 'zod';

/** The business events that a subscription can receive. */
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

/** The body of a delivery: `WebhookEnvelope` in docs/reference/store.openapi.json. */
export const webhookEnvelopeShape = z
  .object({
    id: z
      .string()
      .regex(/^evt_/)
      .describe(
        'The id of the event; the same for all attempts, retries and recoveries. Handle each id once',
      ),
    api_version: z
      .string()
      .describe('Version of the payload, a date; a subscription keeps the version with which it was created'),
    created_at: z.iso.datetime().describe('When the event happened'),
    event: z.enum(webhookEvents).describe('Name of the event'),
    data: z.record(z.string(), z.unknown()).describe('Data of the event; see the event of this name'),
  })
  .meta({ id: 'WebhookEnvelope', description: 'The body of a delivery.' });
export type WebhookEnvelope = z.infer<typeof webhookEnvelopeShape>;
