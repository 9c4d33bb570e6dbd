import { idShape, webhookEnvelopeShape, webhookEvents } from '@fulfilment/contracts';
import { outcomes } from '@fulfilment/guarded-fetch';
import { z } from 'zod';
import { deliveryStatuses, failureReasons, triggers } from '../delivery/delivery-state.js';
import { attemptsWithFullResponse, olderBodyBytes, maxAttempts } from './history.rules.js';

const members = {
  id: idShape('whd', 'The id of the delivery, as in the header `X-Service-Delivery`'),
  subscription_id: idShape('whk', 'The subscription'),
  event_id: idShape('evt', 'The id of the event, as in `id` of the envelope'),
  event: z.enum(webhookEvents).describe('Name of the event'),
  api_version: z.string().describe('Version of the payload'),
  status: z
    .enum(deliveryStatuses)
    .describe(
      '`pending` before the first attempt, `retrying` between attempts, `held` while the subscription is disabled',
    ),
  failure_reason: z
    .enum(failureReasons)
    .nullable()
    .describe(
      'Why the delivery failed: `exhausted` after the last attempt, `expired` if it was held too long, `gone` if the receiver responded with 410. Null unless `status` is `failed`',
    ),
  test: z.boolean().describe('Whether the delivery is a test event'),
  attempt_count: z.int().min(0).describe('Number of started attempts'),
  next_attempt_at: z.iso
    .datetime()
    .nullable()
    .describe('When the next attempt is due; null if there is none'),
  last_status_code: z
    .int()
    .nullable()
    .describe('HTTP status of the last completed attempt; null if it had no response'),
  created_at: z.iso.datetime().describe('When the delivery was created'),
  completed_at: z.iso
    .datetime()
    .nullable()
    .describe('When the delivery reached its final status; null until then'),
};

export const deliveryExample = {
  id: 'whd_5q0v3hj9b6w1t8n2m4c7x0z5ke',
  subscription_id: 'whk_01m7xwmwx4f08v4cgpyk3kx08m',
  event_id: 'evt_01m7xwmx3fyb2a9s6d4k8q1r7c',
  event: 'order.shipped' as const,
  api_version: '2026-11-01',
  status: 'succeeded' as const,
  failure_reason: null,
  test: false,
  attempt_count: 1,
  next_attempt_at: null,
  last_status_code: 204,
  created_at: '2026-11-21T09:30:00.120Z',
  completed_at: '2026-11-21T09:30:00.310Z',
};

export const deliveryShape = z.object(members).meta({
  id: 'WebhookDelivery',
  description: 'The delivery of one event to one subscription.',
  examples: [deliveryExample],
});
export type DeliveryView = z.infer<typeof deliveryShape>;

export const orderDeliveryExample = { ...deliveryExample, client_id: 'shop-app' };
export const orderDeliveryShape = z
  .object({ ...members, client_id: z.string().describe('The app that is notified') })
  .meta({
    id: 'OrderWebhookDelivery',
    description: 'The delivery of one event about an order to one subscription.',
    examples: [orderDeliveryExample],
  });
export type OrderDeliveryView = z.infer<typeof orderDeliveryShape>;

const attemptExample = {
  number: 1,
  trigger: 'auto' as const,
  started_at: '2026-11-21T09:30:00.125Z',
  duration_ms: 181,
  outcome: 'succeeded' as const,
  status_code: 204,
  response_headers: { 'content-type': 'text/plain' },
  response_body: '',
  response_truncated: false,
};
const attemptShape = z
  .object({
    number: z.int().min(1).describe('Number of the attempt, from 1, as in the header `X-Service-Attempt`'),
    trigger: z
      .enum(triggers)
      .describe(
        'What triggered the attempt: the retry schedule (`auto`), a manual retry, a recovery or a test event',
      ),
    started_at: z.iso.datetime().describe('When the attempt started'),
    duration_ms: z.int().min(0).nullable().describe('Duration in milliseconds; null if `outcome` is `lost`'),
    outcome: z
      .enum([...outcomes, 'lost'])
      .describe('Outcome of the attempt. `lost`: our process stopped during the attempt; it is not counted'),
    status_code: z.int().nullable().describe('HTTP status of the response; null if there was none'),
    response_headers: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Selected headers of the response; null if there was none'),
    response_body: z
      .string()
      .nullable()
      .describe(
        `The first 4 KiB of the response body; only the first ${olderBodyBytes} bytes for attempts older than the newest ${attemptsWithFullResponse}. A character that would be cut is omitted. Null if there was no response`,
      ),
    response_truncated: z.boolean().describe('Whether the response body is longer than `response_body`'),
  })
  .meta({ id: 'WebhookAttempt', description: 'One attempt to send a delivery.', examples: [attemptExample] });
export type AttemptView = z.infer<typeof attemptShape>;

export const deliveryDetailShape = z
  .object({
    ...members,
    payload: webhookEnvelopeShape.describe('The request body that is sent'),
    attempts: z
      .array(attemptShape)
      .max(maxAttempts)
      .describe(
        `The newest ${maxAttempts} finished attempts, oldest first; \`attempt_count\` counts all started attempts`,
      ),
  })
  .meta({
    id: 'WebhookDeliveryDetail',
    description: 'A delivery with its payload and its newest attempts.',
    examples: [
      {
        ...deliveryExample,
        payload: {
          id: deliveryExample.event_id,
          api_version: '2026-11-01',
          created_at: '2026-11-21T09:30:00.000Z',
          event: 'order.shipped',
          data: {
            order_id: 'ord_01m7xwmx1ceqrv87vt909ma64h',
            carrier: 'Royal Mail',
            tracking_number: 'RM123456785GB',
            tracking_url: 'https://track.example/RM123456785GB',
            updated_at: '2026-11-21T09:30:00.000Z',
          },
        },
        attempts: [attemptExample],
      },
    ],
  });
export type DeliveryDetail = z.infer<typeof deliveryDetailShape>;

export const recoveryShape = z
  .object({
    id: idShape('whr', 'The id of the recovery; identifies it in our logs'),
    matched: z
      .int()
      .min(0)
      .describe(
        'Number of deliveries that will be sent again, counted among the newest 100,000 of each status',
      ),
  })
  .meta({
    id: 'WebhookRecovery',
    description: 'A started recovery of deliveries.',
    examples: [{ id: 'whr_01m7xwmy6k2f9c4t8e1s5g0w3d', matched: 12 }],
  });
export type Recovery = z.infer<typeof recoveryShape>;
