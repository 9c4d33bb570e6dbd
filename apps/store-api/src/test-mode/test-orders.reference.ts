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
    'Lets the simulated warehouse report an event of a test order, as a warehouse would: `shipped` and `cancelled` of an order that is `processing` (`cancelled` also after a failed payment), `delivered` of a shipped one, and `tracking_updated` of one that was shipped.',
    'The webhooks are those of a live order.',
    'A repeated request with the same `idempotency-key` applies the event once, and returns the order as it is by then.',
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
    { when: 'The order has 1000 events of its packages (`too_many_events`).', example: tooManyEvents() },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof orderShape>;
