import { idShape, webhookEnvelopeShape, webhookEvents } from '@fulfilment/contracts';
import { outcomes } from '@fulfilment/guarded-fetch';
import { z } from 'zod';
import { deliveryStatuses, failureReasons, triggers } from '../delivery/delivery.rules.js';
import { fullAttempts, olderBodyBytes, maxAttempts } from './history.rules.js';

const members = {
  id: idShape('whd', 'The delivery; the header `X-Service-Delivery`'),
  subscription_id: idShape('whk', 'The subscription'),
  event_id: idShape('evt', "The event; the envelope's `id`"),
  event: z.enum(webhookEvents).describe('What happened'),
  api_version: z.string().describe("The payload's form"),
  status: z
    .enum(deliveryStatuses)
    .describe(
      '`pending` before the first attempt, `retrying` between attempts, `held` while the subscription is disabled',
    ),
  failure_reason: z
    .enum(failureReasons)
    .nullable()
    .describe(
      'Of `failed`: `exhausted` after the last attempt, `expired` when it was held too long, `gone` when the receiver answered 410. Else null',
    ),
  test: z.boolean().describe('Whether it was sent for trying things out'),
  attempt_count: z.int().min(0).describe('Attempts begun'),
  next_attempt_at: z.iso.datetime().nullable().describe('When it is tried next; null when it is not'),
  last_status_code: z.int().nullable().describe("The receiver's last HTTP status; null while there is none"),
  created_at: z.iso.datetime().describe('When it was made'),
  completed_at: z.iso.datetime().nullable().describe('When it succeeded or failed for good; null until then'),
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
  description: 'One event for one subscription.',
  examples: [deliveryExample],
});
export type DeliveryView = z.infer<typeof deliveryShape>;

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
    number: z.int().min(1).describe('Which attempt, from 1; the header `X-Service-Attempt`'),
    trigger: z
      .enum(triggers)
      .describe('What made it: the schedule (`auto`), a retry by hand, a recovery or a test'),
    started_at: z.iso.datetime().describe('When it began'),
    duration_ms: z.int().min(0).nullable().describe('How long it took; null when it was lost'),
    outcome: z
      .enum([...outcomes, 'lost'])
      .describe('How it ended. `lost`: we stopped in the midst of it, and it counts as none'),
    status_code: z.int().nullable().describe("The receiver's HTTP status; null when there was none"),
    response_headers: z
      .record(z.string(), z.string())
      .nullable()
      .describe("Some of the receiver's headers; null when there was no answer"),
    response_body: z
      .string()
      .nullable()
      .describe(
        `The first 4 KiB of what it answered; of attempts before the newest ${fullAttempts} the first ${olderBodyBytes} bytes. A character that would be cut is left out. Null when there was no answer`,
      ),
    response_truncated: z.boolean().describe('Whether it answered more than that'),
  })
  .meta({ id: 'WebhookAttempt', description: 'One try to post a delivery.', examples: [attemptExample] });
export type AttemptView = z.infer<typeof attemptShape>;

export const deliveryDetailShape = z
  .object({
    ...members,
    payload: webhookEnvelopeShape.describe('What is posted'),
    attempts: z
      .array(attemptShape)
      .max(maxAttempts)
      .describe(
        `The newest ${maxAttempts} attempts that have ended, in order; \`attempt_count\` tells how many were begun`,
      ),
  })
  .meta({
    id: 'WebhookDeliveryDetail',
    description: 'A delivery with what was sent and its newest attempts.',
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
    id: idShape('whr', 'Names this recovery in our logs'),
    matched: z
      .int()
      .min(0)
      .describe('Deliveries that are sent again, counted among the newest 100,000 of each status'),
  })
  .meta({
    id: 'WebhookRecovery',
    description: 'What a recovery set going.',
    examples: [{ id: 'whr_01m7xwmy6k2f9c4t8e1s5g0w3d', matched: 12 }],
  });
export type Recovery = z.infer<typeof recoveryShape>;
