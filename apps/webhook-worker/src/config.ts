import { guardedClientSettings, rejectLoopbackTargetsInPublic } from '@fulfilment/guarded-fetch';
import { apiSettings } from '@fulfilment/http-service';
import { delaysSetting, keyPrefix, keyring, milliseconds, poolSize } from '@fulfilment/runtime';
import { z } from 'zod';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * 12 attempts in about 70 hours. Five of them come in the first 13 minutes, for a receiver that is being
 * deployed; the last after nearly three days, for one that broke on Friday evening and is fixed on Monday.
 */
const defaultScheduleMs = [
  0,
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  1 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  24 * hour,
];

const fields = apiSettings.extend({
  DATABASE_DELIVERY_POOL_SIZE: poolSize(5).describe(
    'Maximum number of PostgreSQL connections for claiming deliveries and settling attempts',
  ),
  SECRET_ENCRYPTION_KEY: keyring().describe(
    "32 bytes in base64 that encrypt the subscriptions' secrets. To rotate, put the new key before the old, with a comma",
  ),
  WEBHOOK_RETRY_SCHEDULE_MS: delaysSetting(defaultScheduleMs).describe(
    'Delay before each attempt of a delivery, in ms, separated by commas; the first is before the first attempt',
  ),
  WEBHOOK_TIMEOUT_MS: milliseconds(50, 60_000, 15_000).describe(
    'Deadline of one attempt, everything included',
  ),
  WEBHOOK_LEASE_SLACK_MS: milliseconds(100, 300_000, 30_000).describe(
    'What an attempt may take beyond its deadline before it counts as lost and its delivery is due again',
  ),
  WEBHOOK_DISABLE_FAILURES: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(20)
    .describe('A subscription is disabled when at least so many attempts in a row have failed …'),
  WEBHOOK_DISABLE_AFTER_MS: milliseconds(0, 30 * 24 * hour, 72 * hour).describe(
    '… the first of them at least so long ago, with no success since. The age of the success before them does not count',
  ),
  WEBHOOK_HOST_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .describe(
      'Attempts one process has under way to one receiving host (host:port), over all subscriptions; a quarter of it to one that fails or is slow',
    ),
  WEBHOOK_QUEUE_PREFIX: keyPrefix('webhooks').describe(
    'First part of the BullMQ keys in Redis, for suites that share one',
  ),
  ...guardedClientSettings,
});
export const webhookWorkerSettings = fields.superRefine(rejectLoopbackTargetsInPublic);
export type WebhookWorkerSettings = z.output<typeof webhookWorkerSettings>;

/**
 * Nest's token for the `Database` that claims and settles deliveries. Requests and background jobs cannot
 * exhaust its pool.
 */
export const DELIVERY_DATABASE = Symbol('DELIVERY_DATABASE');
/** Nest's token for the settings. */
export const CONFIG = Symbol('CONFIG');
