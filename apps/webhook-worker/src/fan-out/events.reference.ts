import { type Parameter, type Schema, type ServiceReference, shapeSchema } from '@fulfilment/api-reference';
import { webhookEnvelopeShape, type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import { z } from 'zod';
import { sampleData } from './sample-event.rules.js';
import { currentApiVersion } from '../subscriptions/subscription.rules.js';
import { renderBody } from './envelope.rules.js';
import { eventDataShapes } from './event-data.shapes.js';

const eventDescriptions: Readonly<Record<WebhookEvent, string>> = {
  'order.created': 'An order was placed.',
  'order.processing': 'An order was paid and entered fulfilment.',
  'order.shipped': 'The first package of an order was handed to the carrier. The data includes its tracking.',
  'order.tracking_updated': 'Tracking was added or corrected.',
  'order.delivered': 'All packages of an order were delivered.',
  'order.cancelled': 'An order was cancelled.',
  'order.payment_failed': 'The payment for an order was declined.',
  'product.available': 'A product became available to order.',
  'product.unavailable': 'A product can no longer be ordered.',
  'product.inventory_changed': 'The stock of a limited edition changed.',
  'product.in_stock': 'A limited edition that was sold out is in stock again.',
  'product.out_of_stock': 'A limited edition sold out.',
};

const headers: readonly Parameter[] = [
  {
    name: 'X-Service-Signature',
    in: 'header',
    required: true,
    description:
      "`t=<unix_seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the subscription's secret. Compute it from the received bytes, compare in constant time, and " +
      'reject a delivery whose `t` differs from your clock by more than 300 seconds',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
    example: 't=1795253400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  },
  {
    name: 'X-Service-Signature-Previous',
    in: 'header',
    description: 'The signature with the previous secret, for 24 hours after the secret was changed',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
  },
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'Standard Webhooks: id of the event, as `id` in the body; the same for every attempt',
    schema: { type: 'string', pattern: '^evt_' },
    example: 'evt_01m7xwmx3fyb2a9s6d4k8q1r7c',
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'Standard Webhooks: time of the attempt in UNIX seconds',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1795253400',
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'Standard Webhooks: `v1,<base64>`, the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`; a second one, after a space, for 24 hours after the secret was changed. ' +
      'A subscription with `signature: v1a` also gets `v1a,<base64>`, its Ed25519 signature of the same text. ' +
      "The key of the HMAC is the subscription's secret as UTF-8, or the bytes after `whsec_` if they are base64",
    schema: { type: 'string', pattern: '^v1,\\S+( v1a?,\\S+)*$' },
    example: 'v1,AbP0KUXgZ4GTI4dQnYUBW4cUcGHEsHbV3JpLR1A1vTs=',
  },
  {
    name: 'X-Service-Event',
    in: 'header',
    required: true,
    description: 'Name of the event, as in the body',
    schema: { type: 'string', enum: [...webhookEvents] },
  },
  {
    name: 'X-Service-Delivery',
    in: 'header',
    required: true,
    description: 'Id of the delivery; the same for every attempt',
    schema: { type: 'string', pattern: '^whd_' },
    example: 'whd_5q0v3hj9b6w1t8n2m4c7x0z5ke',
  },
  {
    name: 'X-Service-Attempt',
    in: 'header',
    required: true,
    description: 'Number of the attempt, from 1',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
    example: '1',
  },
  {
    name: 'X-Service-Test',
    in: 'header',
    description: '`true` for test events, absent otherwise',
    schema: { type: 'string', enum: ['true'] },
  },
  {
    name: 'traceparent',
    in: 'header',
    required: true,
    description: 'W3C Trace Context of the work that caused the event',
    schema: { type: 'string' },
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
];

const sampleAt = new Date('2026-11-21T09:30:00Z');
const sampleEventId = '01a1fd70-f1c0-7000-8000-000000000001';

/**
 * Describes every event for OpenAPI's `webhooks`. The examples are rendered by the code that renders
 * deliveries.
 */
export function eventReference(): Pick<ServiceReference, 'webhooks' | 'schemas'> {
  const described = webhookEvents.map((event) => ({ event, ...bodyOf(event) }));
  return {
    webhooks: Object.fromEntries(
      described.map(({ event, schema }) => [event, { post: eventOperation(event, schema) }]),
    ),
    schemas: Object.fromEntries(described.flatMap(({ schemas }) => Object.entries(schemas))),
  };
}

function bodyOf(event: WebhookEvent): ReturnType<typeof shapeSchema> {
  return shapeSchema(
    webhookEnvelopeShape.safeExtend({
      event: z.literal(event).describe('Name of the event'),
      data: eventDataShapes[event].describe('Data of the event'),
    }),
  );
}

function eventOperation(event: WebhookEvent, schema: Schema) {
  const data = sampleData(event, sampleAt);
  const body = renderBody(
    { id: sampleEventId, event, occurredAt: sampleAt.toISOString(), data },
    currentApiVersion,
    { test: true },
  );
  const example: unknown = JSON.parse(body.toString());
  return {
    operationId: event.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: event,
    description: eventDescriptions[event],
    security: [],
    parameters: [...headers],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema, examples: { test: { summary: 'A test event', value: example } } },
      },
    },
    responses: {
      '2XX': {
        description:
          'The delivery succeeded. Respond before you process the event; the timeout is 15 seconds.',
      },
      '410': {
        description:
          'The delivery failed, and the subscription is disabled unless the event is a test event.',
      },
      default: {
        description:
          'The attempt failed and is retried: up to 12 attempts in about 70 hours. `Retry-After` is respected. Redirects are not followed.',
      },
    },
  };
}
