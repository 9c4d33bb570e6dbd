import type { OperationDoc } from '@fulfilment/api-reference';
import { cursorPageShape } from '@fulfilment/contracts';
import { Conflict, NotFound, RateLimited, ValidationFailed } from '@fulfilment/error-envelope';
import { deliveryDetailShape, deliveryExample, deliveryShape, recoveryShape } from './delivery.shapes.js';

const tag = 'Webhook deliveries';
const subscription = { description: 'The subscription', example: 'whk_01m7xwmwx4f08v4cgpyk3kx08m' };
const delivery = { description: 'The delivery', example: deliveryExample.id };
const unknown = {
  when: "There is no such subscription, or it is another creator's or client's.",
  example: new NotFound('webhook subscription'),
};
const unknownDelivery = {
  when: 'The subscription has no such delivery.',
  example: new NotFound('webhook delivery'),
};
const page = cursorPageShape(deliveryShape, deliveryExample);
const waiting = {
  ...deliveryExample,
  status: 'pending' as const,
  attempt_count: 0,
  next_attempt_at: '2026-11-21T09:30:00.120Z',
  last_status_code: null,
  completed_at: null,
};

export const listDeliveries = {
  id: 'listWebhookDeliveries',
  tag,
  summary: 'List deliveries',
  description: 'What became of the events of a subscription, the newest first, for 30 days.',
  path: { id: subscription },
  answer: { description: 'A page of deliveries.', shape: page },
  errors: [unknown],
} as const satisfies OperationDoc<typeof page>;

export const readDelivery = {
  id: 'readWebhookDelivery',
  tag,
  summary: 'Read a delivery',
  path: { id: subscription, delivery_id: delivery },
  answer: {
    description: 'The delivery with what was sent and its newest attempts, at most 100.',
    shape: deliveryDetailShape,
  },
  errors: [unknown, unknownDelivery],
} as const satisfies OperationDoc<typeof deliveryDetailShape>;

export const retryDelivery = {
  id: 'retryWebhookDelivery',
  tag,
  summary: 'Send a delivery again',
  description:
    'Makes one attempt now, whatever became of the delivery and also while the subscription is disabled: the same id and bytes, on top of the schedule. ' +
    'When it fails, the delivery stands where it stood before. Sixty a minute for each subscription; a retry of a test event counts as a test.',
  path: { id: subscription, delivery_id: delivery },
  answer: {
    description: 'It will be sent.',
    shape: deliveryShape,
    examples: { waiting: { value: { ...waiting, attempt_count: 12 } } },
  },
  errors: [
    unknown,
    unknownDelivery,
    { when: 'An attempt is under way.', example: new Conflict('An attempt of this delivery is under way.') },
    {
      when: 'There were sixty in the last minute; of a test event, ten tests and retries of tests.',
      example: new RateLimited(12),
    },
  ],
} satisfies OperationDoc<typeof deliveryShape>;

export const recoverDeliveries = {
  id: 'recoverWebhookDeliveries',
  tag,
  summary: 'Send again what was missed',
  description:
    'Sends what failed or was held in a span of time, on a schedule begun anew. What one call set going is not matched by the next, so repeating it is harmless. ' +
    '`matched` counts the newest 100,000 deliveries of each status; all of them are sent. Six a minute for each subscription.',
  path: { id: subscription },
  body: {
    outage: {
      summary: 'After an outage',
      value: { since: '2026-11-20T12:00:00Z', until: '2026-11-21T12:00:00Z', statuses: ['failed', 'held'] },
    },
  },
  answer: { description: 'They will be sent.', shape: recoveryShape },
  errors: [
    {
      when: 'The span ends before it begins (`until`).',
      example: new ValidationFailed([{ field: 'until', reason: 'must not be before since' }]),
    },
    unknown,
    {
      when: 'The subscription is disabled.',
      example: new Conflict('This webhook subscription is disabled. Enable it first.'),
    },
    { when: 'There were six in the last minute.', example: new RateLimited(12) },
  ],
} as const satisfies OperationDoc<typeof recoveryShape>;

export const sendTestEvent = {
  id: 'sendWebhookTestEvent',
  tag,
  summary: 'Send a test event',
  description:
    'Posts a sample of an event, signed as a real one, with ids that say so (`ord_test_…`) and the header `X-Service-Test`: one attempt, also while the subscription is disabled. ' +
    'It counts neither for nor against the subscription. Ten a minute for each subscription, retries of test events by hand among them.',
  path: { id: subscription },
  body: { named: { summary: 'A package', value: { event: 'order.shipped' } } },
  answer: {
    description: 'It will be sent.',
    shape: deliveryShape,
    headers: ['Location'],
    examples: {
      waiting: { value: { ...waiting, event_id: 'evt_test_01m7xwmx3fyb2a9s6d4k8q1r7c', test: true } },
    },
  },
  errors: [unknown, { when: 'There were ten in the last minute.', example: new RateLimited(12) }],
} satisfies OperationDoc<typeof deliveryShape>;
