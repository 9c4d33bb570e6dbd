import type { OperationDoc } from '@fulfilment/api-reference';
import { Conflict, Forbidden, NotFound, ValidationFailed } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { z } from 'zod';
import { publicKeysShape, subscriptionShape, subscriptionsShape } from './subscription.shapes.js';

const tag = 'Webhooks';
const path = { id: { description: 'The subscription', example: 'whk_01m7xwmwx4f08v4cgpyk3kx08m' } };
export const unknownSubscription = {
  when: 'The subscription does not exist, or belongs to another creator or client.',
  example: new NotFound('webhook subscription'),
};
const badTarget = {
  when: '`events.<index>` is not the name of an event, or the `url` is not allowed.',
  example: new ValidationFailed([{ field: 'events.0', reason: 'is not the name of an event' }]),
};
const events = ['order.shipped', 'order.delivered'];

export const createSubscription = {
  id: 'createWebhook',
  tag,
  summary: 'Subscribe to events',
  description:
    'Creates a subscription of the connected creator and this client. It receives events that happen from now on. The limit is 50 subscriptions, including disabled ones, and 1000 of all apps of the creator. A repeated request creates another subscription, unless it has the same `idempotency-key`.',
  body: {
    tracking: {
      summary: 'Track packages',
      value: {
        events,
        url: 'https://shop.example/hooks/fulfilment',
        secret: '6f1c0e4b9a2d47f3b85e0c9d1a7f6234',
      },
    },
  },
  response: {
    description: 'The created subscription.',
    shape: subscriptionShape,
    headers: ['Location', 'Idempotent-Replayed'],
  },
  errors: [
    badTarget,
    {
      when: 'The access token is not connected to a creator.',
      example: new Forbidden(
        'The access token is not connected to a creator, so there are no events to subscribe to.',
      ),
    },
    {
      when: 'There are already 50 subscriptions, or 1000 of all apps of the creator.',
      example: new Conflict('There are already 50 webhook subscriptions. Delete one first.'),
    },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof subscriptionShape>;

export const listSubscriptions = {
  id: 'listWebhooks',
  tag,
  summary: 'List subscriptions',
  description:
    'Returns the subscriptions of this client for the connected creator, newest first. By default, only active ones.',
  response: { description: 'The subscriptions.', shape: subscriptionsShape },
} as const satisfies OperationDoc<typeof subscriptionsShape>;

export const readSubscription = {
  id: 'readWebhook',
  tag,
  summary: 'Read a subscription',
  path,
  response: { description: 'The subscription.', shape: subscriptionShape },
  errors: [unknownSubscription],
} as const satisfies OperationDoc<typeof subscriptionShape>;

export const readPublicKeys = {
  id: 'readWebhookPublicKeys',
  tag,
  summary: 'Read the public keys of a subscription',
  description:
    'Returns the keys that verify the `v1a` signatures of deliveries, without an access token. For 24 hours after a change, the previous key is included. Read the keys again when none matches, at most once in five minutes.',
  path,
  response: { description: 'The public keys.', shape: publicKeysShape },
  errors: [{ when: 'The subscription does not exist.', example: new NotFound('webhook subscription') }],
} as const satisfies OperationDoc<typeof publicKeysShape>;

export const updateSubscription = {
  id: 'updateWebhook',
  tag,
  summary: 'Update a subscription',
  description: 'Changes the members that are sent; the others stay. `new_signing_key` replaces the key pair.',
  path,
  body: {
    enable: { summary: 'Re-enable the subscription', value: { status: 'active' } },
    limit: { summary: 'Limit the concurrent requests to the receiver', value: { max_in_flight: 4 } },
    rotate: { summary: 'Rotate the secret', value: { secret: 'b3d97a61f04c4e2fa8c5170e92d6b48f' } },
    change: { summary: 'Change the events', value: { events } },
  },
  response: { description: 'The updated subscription.', shape: subscriptionShape },
  errors: [
    badTarget,
    {
      when: '`new_signing_key` is `true`, but the signature is not `v1a`.',
      example: new ValidationFailed([{ field: 'new_signing_key', reason: 'requires the signature v1a' }]),
    },
    unknownSubscription,
  ],
} as const satisfies OperationDoc<typeof subscriptionShape>;

const nothing = z.void();

export const deleteSubscription = {
  id: 'deleteWebhook',
  tag,
  summary: 'Delete a subscription',
  description: 'Stops all deliveries of the subscription, including retries.',
  path,
  response: { description: 'The subscription is deleted.', shape: nothing },
  errors: [unknownSubscription],
} as const satisfies OperationDoc<typeof nothing>;
