import { outcomes } from '@fulfilment/guarded-fetch';
import { z } from 'zod';
import { maxCountedDue, subscriptionStatuses } from '../subscriptions/subscription.rules.js';
import { maxHealthDeliveries, maxOutcomes } from './history.rules.js';

const duration = (share: string) =>
  z.int().min(0).describe(`${share} of the responses came within this time, in milliseconds`);

export const healthShape = z
  .object({
    status: z.enum(subscriptionStatuses).describe('Status of the subscription'),
    since: z.iso.datetime().describe('Deliveries that were created after this time are counted'),
    deliveries: z
      .int()
      .min(0)
      .max(maxHealthDeliveries)
      .describe('Number of counted deliveries: at most the newest 1000 of the period, without test events'),
    attempts: z
      .int()
      .min(0)
      .describe(
        'Number of attempts of these deliveries: at most the newest 100 of each, without `lost` ones',
      ),
    success_rate: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe('Share of these attempts that succeeded; null if there were none'),
    response_ms: z
      .object({ p50: duration('Half'), p95: duration('95 %'), p99: duration('99 %') })
      .nullable()
      .describe('Response times of the receiver, over the attempts with a response; null if there were none'),
    outcomes: z
      .array(
        z.object({
          outcome: z.enum(outcomes).describe('Outcome of attempts'),
          status_code: z.int().nullable().describe('HTTP status of the response; null if there was none'),
          attempts: z.int().min(1).describe('Number of attempts with this outcome and status'),
        }),
      )
      .max(maxOutcomes)
      .describe('The outcomes of these attempts, the most frequent first'),
    due_deliveries: z
      .int()
      .min(0)
      .max(maxCountedDue)
      .describe('Number of deliveries that are due and wait to be sent; 1000 stands for more'),
    oldest_due_at: z.iso
      .datetime()
      .nullable()
      .describe('When the oldest of them became due; null if there are none'),
    failing: z
      .object({
        since: z.iso.datetime().describe('When the first of the consecutive failures happened'),
        consecutive_failures: z.int().min(1).describe('Failed attempts since the last successful one'),
        failures_until_disabled: z
          .int()
          .min(0)
          .describe('Further failures that are needed before the subscription is disabled'),
        disabled_at_earliest: z.iso
          .datetime()
          .describe(
            'The first failure from this time on disables the subscription, if enough attempts have failed by then',
          ),
      })
      .nullable()
      .describe('Null after a success, and for a disabled subscription'),
  })
  .meta({
    id: 'WebhookHealth',
    description: 'Health of the receiver of a subscription.',
    examples: [
      {
        status: 'active',
        since: '2026-11-20T12:00:00.000Z',
        deliveries: 120,
        attempts: 125,
        success_rate: 0.96,
        response_ms: { p50: 84, p95: 210, p99: 1043 },
        outcomes: [
          { outcome: 'succeeded', status_code: 204, attempts: 120 },
          { outcome: 'timeout', status_code: null, attempts: 5 },
        ],
        due_deliveries: 0,
        oldest_due_at: null,
        failing: {
          since: '2026-11-21T09:30:00.120Z',
          consecutive_failures: 5,
          failures_until_disabled: 15,
          disabled_at_earliest: '2026-11-24T09:30:00.120Z',
        },
      },
    ],
  });
export type HealthView = z.infer<typeof healthShape>;
