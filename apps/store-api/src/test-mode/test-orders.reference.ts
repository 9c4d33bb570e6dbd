import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { orderExample, orderShape, trackingExample } from '../orders/order.shapes.js';
import { notATestOrder, statusMismatch, tooManyEvents } from './report-simulated-event.js';

export const reportTestEvent = {
  id: 'reportTestEvent',
  tag: 'Test mode',
  summary: 'Report an event of a test order',
  description: [
    'Lets the simulated warehouse report an event of a test order. An order that is `processing` can become `shipped` or `cancelled`; a `shipped` one `delivered`; one that is `payment_failed` only `cancelled`. `tracking_updated` needs an order that is `shipped` or `delivered`.',
    'The webhooks are those of a live order.',
    'A repeated request with the same `idempotency-key` applies the event once, and returns the current order.',
    'Without this request a test order is shipped some minutes after its payment, and delivered some minutes later.',
  ].join(' '),
  path: { id: { description: 'The test order', example: 'ord_01m7xwmx1ceqrv87vt909ma64h' } },
  body: { shipped: { summary: 'Ship the order', value: { event: 'shipped' } } },
  response: {
    description: 'The order after the event.',
    shape: orderShape,
    headers: ['Idempotent-Replayed'],
    examples: {
      shipped: {
        summary: 'Shipped',
        value: { ...orderExample, status: 'shipped', livemode: false, tracking: trackingExample },
      },
    },
  },
  errors: [
    { when: 'The order does not exist, or belongs to another creator.', example: new NotFound('order') },
    { when: 'The order is live (`not_a_test_order`).', example: notATestOrder() },
    {
      when: 'The status of the order does not allow the event (`status_mismatch`).',
      example: statusMismatch('delivered', 'shipped'),
    },
    {
      when: 'The packages of the order already have 1000 events (`too_many_events`).',
      example: tooManyEvents(),
    },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof orderShape>;
