import { z } from 'zod';
import { uuid } from '../ids.js';
import { defineMessage } from './message.js';

const subscription = {
  subscription_id: uuid,
  creator_id: uuid,
  client_id: z.string(),
  consecutive_failures: z.int().min(1).describe('Failed attempts since the last successful one'),
  failing_since: z.iso.datetime(),
};

/**
 * Notifications for the owner of a webhook subscription, to be sent by mail or shown in a dashboard. No
 * service of the suite consumes them; bind a queue of your own.
 */
export const webhookMessages = {
  webhookSubscriptionDegraded: defineMessage(
    'webhook.subscription.degraded',
    'The receiver of a webhook subscription fails. Published once for each reason, until a delivery succeeds. Intended for e-mails to the owner; no service of the suite consumes it.',
    z.object({
      ...subscription,
      reason: z
        .enum(['delivery_failed', 'to_be_disabled'])
        .describe(
          '`delivery_failed`: the last attempt of a delivery failed; `to_be_disabled`: the subscription will be disabled at `disabled_at`',
        ),
      disabled_at: z.iso
        .datetime()
        .nullable()
        .describe(
          'When the subscription will be disabled if no attempt succeeds; null if too few attempts have failed so far',
        ),
    }),
  ),
  webhookSubscriptionDisabled: defineMessage(
    'webhook.subscription.disabled',
    'The service disabled a webhook subscription. Intended for e-mails to the owner; no service of the suite consumes it.',
    z.object({
      ...subscription,
      reason: z
        .enum(['gone', 'failing'])
        .describe('`gone`: the receiver responded with 410; `failing`: it failed for too long'),
      disabled_at: z.iso.datetime(),
    }),
  ),
} as const;
