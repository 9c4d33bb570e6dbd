import { guardedClientSettings, rejectLoopbackTargetsOfPublicSuite } from '@fulfilment/guarded-fetch';
import { apiSettings } from '@fulfilment/http-service/settings';
import { delaysSetting, integerSetting, keyPrefix, keyring, poolSize, secret } from '@fulfilment/runtime';
import { z } from 'zod';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * 12 attempts in about 70 hours. Five of them come in the first 13 minutes, for a receiver that is being
 * deployed; the last after nearly three days, for a receiver that broke on Friday evening and is fixed on
 * Monday.
 */
const defaultScheduleMs = [
  0,
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  1 * hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
  24 * hourMs,
  24 * hourMs,
];

/** With daily partitions, planning each execution would be slow, so each statement has one plan (ADR 3). */
export const forceGenericPlan = true;

const settings = apiSettings.extend({
  DATABASE_DELIVERY_POOL_SIZE: poolSize(5).describe(
    'Maximum number of PostgreSQL connections for claiming deliveries and storing the results of attempts',
  ),
  SECRET_ENCRYPTION_KEY: keyring()
    .meta(secret)
    .describe(
      'Key that encrypts the secrets and signing keys of subscriptions: 32 bytes in base64. To rotate it, append the new key on every replica, separated by a comma, then move it to the front, then run `webhooks reseal`, then remove the old key',
    ),
  WEBHOOK_RETRY_SCHEDULE_MS: delaysSetting(defaultScheduleMs).describe(
    'Delays before the attempts of a delivery, in ms, separated by commas; the first value is the delay before the first attempt',
  ),
  WEBHOOK_TIMEOUT_MS: integerSetting({ min: 50, max: 60_000, default: 15_000 }).describe(
    'Timeout of one attempt, in ms',
  ),
  WEBHOOK_LEASE_SLACK_MS: integerSetting({ min: 100, max: 300_000, default: 30_000 }).describe(
    'Time after the timeout of an attempt until it counts as lost and its delivery is due again, in ms',
  ),
  WEBHOOK_DISABLE_FAILURES: integerSetting({ min: 1, max: 1_000_000, default: 20 }).describe(
    'Minimum number of consecutive failed attempts before a subscription is disabled; WEBHOOK_DISABLE_AFTER_MS must also have passed',
  ),
  WEBHOOK_DISABLE_AFTER_MS: integerSetting({ min: 0, max: 30 * 24 * hourMs, default: 72 * hourMs }).describe(
    'Minimum time since the first of the consecutive failures before a subscription is disabled, in ms',
  ),
  WEBHOOK_HOST_CONCURRENCY: integerSetting({ min: 1, max: 10_000, default: 200 }).describe(
    'Maximum number of concurrent attempts of one process to one receiving host (host:port), over all subscriptions; subscriptions that fail or are slow get a quarter of it',
  ),
  WEBHOOK_QUEUE_PREFIX: keyPrefix('webhooks').describe(
    'Prefix of the BullMQ keys in Redis, for suites that share one',
  ),
  ...guardedClientSettings,
});
export const webhookWorkerSettings = settings.superRefine(rejectLoopbackTargetsOfPublicSuite);
export type WebhookWorkerSettings = z.output<typeof webhookWorkerSettings>;

/**
 * Nest's token for the `Database` that claims and settles deliveries. Requests and background jobs cannot
 * exhaust its pool.
 */
export const DELIVERY_DATABASE = Symbol('DELIVERY_DATABASE');
/** Nest's token of these settings. */
export { CONFIG } from '@fulfilment/runtime';
