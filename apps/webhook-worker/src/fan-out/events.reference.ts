import {
  type ApiPart,
  type Parameter,
  type Schema,
  type Schemas,
  shapeSchema,
} from '@fulfilment/api-reference';
import { webhookEnvelopeShape, type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import { z } from 'zod';
import { sampleData } from '../history/sample-event.rules.js';
import { currentApiVersion } from '../subscriptions/subscription.rules.js';
import { renderBody } from './envelope.rules.js';
import { eventDataShapes } from './event-data.shapes.js';

const eventDescriptions: Readonly<Record<WebhookEvent, string>> = {
  'order.created': 'An order was placed.',
  'order.processing': 'An order was paid and entered fulfilment.',
  'order.shipped': 'The first package of an order was handed over; with its tracking.',
  'order.tracking_updated': 'Tracking was added or corrected.',
  'order.delivered': 'All packages of an order arrived.',
  'order.cancelled': 'An order was cancelled.',
  'order.payment_failed': 'The payment for an order was refused.',
  'product.available': 'A product can be ordered from now on.',
  'product.unavailable': 'A product can no longer be ordered.',
  'product.inventory_changed': "A limited edition's stock changed.",
  'product.in_stock': 'A limited edition that was sold out is there again.',
  'product.out_of_stock': 'A limited edition sold out.',
};

const headers: readonly Parameter[] = [
  {
    name: 'X-Service-Signature',
    in: 'header',
    required: true,
    description:
      "`t=<unix_seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the subscription's secret. Compute it from the very bytes that came, compare in constant time, and " +
      'refuse what is more than 300 seconds from your clock',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
    example: 't=1795253400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  },
  {
    name: 'X-Service-Signature-Previous',
    in: 'header',
    description: 'The same by the secret before, for 24 hours after it was changed',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
  },
  {
    name: 'X-Service-Event',
    in: 'header',
    required: true,
    description: "The event's name, as in the body",
    schema: { type: 'string', enum: [...webhookEvents] },
  },
  {
    name: 'X-Service-Delivery',
    in: 'header',
    required: true,
    description: 'The delivery: the same for every attempt',
    schema: { type: 'string', pattern: '^whd_' },
    example: 'whd_5q0v3hj9b6w1t8n2m4c7x0z5ke',
  },
  {
    name: 'X-Service-Attempt',
    in: 'header',
    required: true,
    description: 'Which attempt this is, from 1',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
    example: '1',
  },
  {
    name: 'X-Service-Test',
    in: 'header',
    description: '`true` on test events, absent on real ones',
    schema: { type: 'string', enum: ['true'] },
  },
  {
    name: 'traceparent',
    in: 'header',
    required: true,
    description: 'W3C Trace Context of what made the event',
    schema: { type: 'string' },
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
];

const sampleAt = new Date('2026-11-21T09:30:00Z');
const sampleId = '019aa5d6-3a40-7000-8000-000000000001';

/**
 * Describes every event for OpenAPI's `webhooks`. The examples are rendered by the code that renders
 * deliveries.
 */
export function eventReference(): { webhooks: ApiPart['webhooks']; schemas: Schemas } {
  const described = webhookEvents.map((event) => ({ event, ...bodyOf(event) }));
  return {
    webhooks: Object.fromEntries(
      described.map(({ event, schema }) => [event, { post: eventOperation(event, schema) }]),
    ),
    schemas: described.reduce((sum, { schemas }) => ({ ...sum, ...schemas }), {}),
  };
}

function bodyOf(event: WebhookEvent): { schema: Schema; schemas: Schemas } {
  return shapeSchema(
    webhookEnvelopeShape.safeExtend({
      event: z.literal(event).describe('What happened'),
      data: eventDataShapes[event].describe('What the event tells'),
    }),
  );
}

function eventOperation(event: WebhookEvent, schema: Schema) {
  const data = sampleData(event, sampleAt);
  const body = renderBody(
    { id: sampleId, event, occurredAt: sampleAt.toISOString(), data },
    currentApiVersion,
    true,
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
        'application/json': { schema, examples: { test: { summary: 'As a test event', value: example } } },
      },
    },
    responses: {
      '2XX': { description: 'Received. Answer before you work on it: 15 seconds are given.' },
      '410': { description: 'Never again: the subscription is disabled.' },
      default: {
        description:
          'Tried again, 12 times in about 70 hours; a `Retry-After` is heeded. Redirects are not followed.',
      },
    },
  };
}
