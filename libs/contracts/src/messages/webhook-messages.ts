import { z } from 'zod';
import { uuid } from '../ids.js';
import { defineMessage } from './message.js';

const subscription = {
  subscription_id: uuid,
  creator_id: uuid,
  client_id: z.string(),
  consecutive_failures: z.int().min(1).describe('Failed attempts since the last success'),
  failing_since: z.iso.datetime(),
};

/**
 * What the owner of a webhook subscription is to be told by other ways than webhooks. No service of the suite takes them: who sends mail
 * or shows a dashboard binds a queue of its own.
 */
export const webhookMessages = {
  webhookSubscriptionDegraded: defineMessage(
    'webhook.subscription.degraded',
    1,
    "A webhook subscription's receiver fails: each reason once, until it answers again. For the platform's mail; no service of the suite takes it.",
    z.object({
      ...subscription,
      reason: z
        .enum(['delivery_failed', 'to_be_disabled'])
        .describe('A delivery failed for good, or the subscription will be disabled at `disabled_at`'),
      disabled_at: z.iso
        .datetime()
        .nullable()
        .describe('When it will be disabled if nothing succeeds; null when too few attempts failed so far'),
    }),
  ),
  webhookSubscriptionDisabled: defineMessage(
    'webhook.subscription.disabled',
    1,
    "A webhook subscription was disabled, not by its owner. For the platform's mail; no service of the suite takes it.",
    z.object({
      ...subscription,
      reason: z.enum(['gone', 'failing']).describe('The receiver answered 410, or failed for too long'),
      disabled_at: z.iso.datetime(),
    }),
  ),
} as const;
