import type { OperationDoc } from '@fulfilment/api-reference';
import { Conflict, Forbidden, NotFound, ValidationFailed } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { z } from 'zod';
import { subscriptionShape, subscriptionsShape } from './subscription.shapes.js';

const tag = 'Webhooks';
const path = { id: { description: 'The subscription', example: 'whk_01m7xwmwx4f08v4cgpyk3kx08m' } };
const unknown = {
  when: "There is no such subscription, or it is another creator's or client's.",
  example: new NotFound('webhook subscription'),
};
const badTarget = {
  when: 'A name that is no event (`events.<index>`), or a URL that may not be called (`url`).',
  example: new ValidationFailed([{ field: 'events.0', reason: 'is not the name of an event' }]),
};
const events = ['order.shipped', 'order.delivered'];

export const createSubscription = {
  id: 'createWebhook',
  tag,
  summary: 'Subscribe to events',
  description:
    'A subscription belongs to the connected creator and this client, and receives what happens from now on. There may be 50 of them, disabled ones included. Repeating the request creates another one, unless it has the same `idempotency-key`.',
  body: {
    tracking: {
      summary: 'Follow packages',
      value: {
        events,
        url: 'https://shop.example/hooks/fulfilment',
        secret: '6f1c0e4b9a2d47f3b85e0c9d1a7f6234',
      },
    },
  },
  answer: {
    description: 'The subscription.',
    shape: subscriptionShape,
    headers: ['Location', 'Idempotent-Replayed'],
  },
  errors: [
    badTarget,
    {
      when: 'The token is not connected to a creator, so there is nothing to subscribe to.',
      example: new Forbidden(
        'This access is not connected to a creator, so there are no events to subscribe to.',
      ),
    },
    {
      when: 'There are 50 already.',
      example: new Conflict('There are 50 webhook subscriptions already. Delete one first.'),
    },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof subscriptionShape>;

export const listSubscriptions = {
  id: 'listWebhooks',
  tag,
  summary: 'List subscriptions',
  description:
    "This client's active subscriptions for the connected creator. Disabled ones can be read by their id.",
  answer: { description: 'The active subscriptions.', shape: subscriptionsShape },
} as const satisfies OperationDoc<typeof subscriptionsShape>;

export const readSubscription = {
  id: 'readWebhook',
  tag,
  summary: 'Read a subscription',
  path,
  answer: { description: 'The subscription.', shape: subscriptionShape },
  errors: [unknown],
} as const satisfies OperationDoc<typeof subscriptionShape>;

export const updateSubscription = {
  id: 'updateWebhook',
  tag,
  summary: 'Change a subscription',
  description: 'Changes what is given: where to and what for, the secret, or whether it is active.',
  path,
  body: {
    enable: { summary: 'Enable it again', value: { status: 'active' } },
    rotate: { summary: 'Change the secret', value: { secret: 'b3d97a61f04c4e2fa8c5170e92d6b48f' } },
    change: { summary: 'Other events', value: { events } },
  },
  answer: { description: 'The subscription as it is now.', shape: subscriptionShape },
  errors: [badTarget, unknown],
} as const satisfies OperationDoc<typeof subscriptionShape>;

const nothing = z.void();

export const deleteSubscription = {
  id: 'deleteWebhook',
  tag,
  summary: 'Delete a subscription',
  description: 'Nothing is sent any more, retries included.',
  path,
  answer: { description: 'It is gone.', shape: nothing },
  errors: [unknown],
} as const satisfies OperationDoc<typeof nothing>;
