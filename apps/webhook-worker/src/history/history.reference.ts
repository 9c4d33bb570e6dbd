import type { OperationDoc } from '@fulfilment/api-reference';
import { cursorPageShape } from '@fulfilment/contracts';
import { Conflict, NotFound, RateLimited, ValidationFailed } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import {
  deliveryDetailShape,
  deliveryExample,
  deliveryShape,
  orderDeliveryExample,
  orderDeliveryShape,
  recoveryShape,
} from './delivery.shapes.js';
import { healthShape } from './health.shapes.js';
import { unknownSubscription } from '../subscriptions/subscriptions.reference.js';

const tag = 'Webhook deliveries';
const subscription = { description: 'The subscription', example: 'whk_01m7xwmwx4f08v4cgpyk3kx08m' };
const delivery = { description: 'The delivery', example: deliveryExample.id };
const unknownDelivery = {
  when: 'The delivery does not exist, or belongs to another subscription.',
  example: new NotFound('webhook delivery'),
};
const page = cursorPageShape(deliveryShape, deliveryExample);
const dueDelivery = {
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
  description: 'Returns the deliveries of a subscription, newest first. Deliveries are kept for 30 days.',
  path: { id: subscription },
  response: { description: 'A page of deliveries.', shape: page },
  errors: [unknownSubscription],
} as const satisfies OperationDoc<typeof page>;

const pageOfOrder = cursorPageShape(orderDeliveryShape, orderDeliveryExample);
export const listOrderDeliveries = {
  id: 'listOrderWebhookDeliveries',
  tag,
  summary: 'List deliveries about an order',
  description:
    'Returns the deliveries about an order, newest first. A third-party app gets the deliveries of its own subscriptions; a first-party app gets those of all apps of the creator. ' +
    'Deliveries are kept for 30 days, unless the subscription is deleted earlier. For an unknown order the list is empty.',
  response: { description: 'A page of deliveries.', shape: pageOfOrder },
} as const satisfies OperationDoc<typeof pageOfOrder>;

export const readHealth = {
  id: 'readWebhookHealth',
  tag,
  summary: 'Read the health of a receiver',
  description:
    'Returns success rate, response times and outcomes of the newest attempts, the number of due deliveries, and when the subscription will be disabled if no attempt succeeds before.',
  path: { id: subscription },
  response: { description: 'The health of the receiver.', shape: healthShape },
  errors: [unknownSubscription],
} as const satisfies OperationDoc<typeof healthShape>;

export const readDelivery = {
  id: 'readWebhookDelivery',
  tag,
  summary: 'Read a delivery',
  path: { id: subscription, delivery_id: delivery },
  response: {
    description: 'The delivery with its payload and its newest 100 attempts.',
    shape: deliveryDetailShape,
  },
  errors: [unknownSubscription, unknownDelivery],
} as const satisfies OperationDoc<typeof deliveryDetailShape>;

export const retryDelivery = {
  id: 'retryWebhookDelivery',
  tag,
  summary: 'Retry a delivery',
  description:
    'Makes one attempt now with the same id and bytes, in addition to the retry schedule. It works in any status of the delivery, and also while the subscription is disabled. ' +
    'If the attempt fails, a delivery that had succeeded, had failed or was held keeps its status. A delivery that was pending or retrying becomes `retrying` and is due as before, or `held` if the subscription is disabled; a test event becomes `failed`. ' +
    'If the receiver responds with 410 and the subscription still has the same URL, a delivery that was pending, retrying or held becomes `failed`, and the subscription is disabled, but not by a test event. The limit is 60 retries per minute for each subscription; a retry of a test event counts as a test event.',
  path: { id: subscription, delivery_id: delivery },
  response: {
    description: 'The delivery, due for an attempt.',
    shape: deliveryShape,
    headers: ['Idempotent-Replayed'],
    examples: { waiting: { value: { ...dueDelivery, attempt_count: 12 } } },
  },
  errors: [
    unknownSubscription,
    unknownDelivery,
    {
      when: 'An attempt of the delivery is in progress.',
      example: new Conflict('An attempt of this delivery is in progress.'),
    },
    ...keyConflicts,
    {
      when: 'The limit is exceeded: 60 retries per minute, or 10 test events and retries of test events per minute.',
      example: new RateLimited(12),
    },
  ],
} satisfies OperationDoc<typeof deliveryShape>;

export const recoverDeliveries = {
  id: 'recoverWebhookDeliveries',
  tag,
  summary: 'Recover missed deliveries',
  description:
    'Sends deliveries of a time range that failed or were held, with a new retry schedule. A recovery does not match deliveries that an earlier recovery will still send, so a repeated request is harmless. ' +
    '`matched` counts among the newest 100,000 deliveries of each status, but all matching deliveries are sent. The limit is 6 recoveries per minute for each subscription.',
  path: { id: subscription },
  body: {
    outage: {
      summary: 'After an outage',
      value: { since: '2026-11-20T12:00:00Z', until: '2026-11-21T12:00:00Z', statuses: ['failed', 'held'] },
    },
  },
  response: {
    description: 'The started recovery.',
    shape: recoveryShape,
    headers: ['Idempotent-Replayed'],
  },
  errors: [
    {
      when: '`until` is before `since`.',
      example: new ValidationFailed([{ field: 'until', reason: 'must not be before `since`' }]),
    },
    unknownSubscription,
    {
      when: 'The subscription is disabled.',
      example: new Conflict('This webhook subscription is disabled. Enable it first.'),
    },
    ...keyConflicts,
    { when: 'The limit of 6 recoveries per minute is exceeded.', example: new RateLimited(12) },
  ],
} as const satisfies OperationDoc<typeof recoveryShape>;

export const sendTestEvent = {
  id: 'sendWebhookTestEvent',
  tag,
  summary: 'Send a test event',
  description:
    'Sends a sample event, signed like a real one, with test ids (`ord_test_…`) and the header `X-Service-Test`. There is one attempt, also while the subscription is disabled. ' +
    'It does not affect the health fields of the subscription. The limit is 10 test events per minute for each subscription, including retries of test events.',
  path: { id: subscription },
  body: { named: { summary: 'A shipped package', value: { event: 'order.shipped' } } },
  response: {
    description: 'The delivery, due for an attempt.',
    shape: deliveryShape,
    headers: ['Location', 'Idempotent-Replayed'],
    examples: {
      waiting: { value: { ...dueDelivery, event_id: 'evt_test_01m7xwmx3fyb2a9s6d4k8q1r7c', test: true } },
    },
  },
  errors: [
    unknownSubscription,
    ...keyConflicts,
    { when: 'The limit of 10 test events per minute is exceeded.', example: new RateLimited(12) },
  ],
} satisfies OperationDoc<typeof deliveryShape>;
