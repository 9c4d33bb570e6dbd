import { guardedClientSettings, rejectLoopbackTargetsInPublic } from '@fulfilment/guarded-fetch';
import { apiSettings, operationQuotaSettings } from '@fulfilment/http-service';
import { delaysSetting, keyPrefix, milliseconds } from '@fulfilment/runtime';
import { z } from 'zod';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const mebibyte = 1024 * 1024;

const fields = apiSettings.extend({
  RATE_LIMIT_STATS: operationQuotaSettings.RATE_LIMIT_STATS,
  STATISTICS_CLOSE_DAY: z.coerce
    .number()
    .int()
    .min(0)
    .max(28)
    .default(5)
    .describe(
      'Day of the following month on which a month of statistics closes, at 00:00 UTC. What is posted later counts in the first open month, so statements of a closed month never change. 0 closes no month: only for rebuilding a lost ledger',
    ),
  EXCHANGE_RATES_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "Where creator-api fetches the ECB's reference rates, as XML or CSV (best the file of the last 90 days); unset, it fetches none and `ops rates load` brings them",
    ),
  EXCHANGE_RATES_INTERVAL_MS: milliseconds(minute, 7 * 24 * hour, 6 * hour).describe(
    'Delay between two fetches of the exchange rates; a failed one is repeated after 5 minutes',
  ),
  TRACK_UPLOAD_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(4096 * mebibyte)
    .default(512 * mebibyte)
    .describe('Largest audio file that is fetched; a replica needs room for as many as it fetches at a time'),
  TRACK_UPLOAD_TIMEOUT_MS: milliseconds(50, 2 * hour, 10 * minute).describe(
    'Deadline of fetching one audio file, everything included',
  ),
  TRACK_UPLOAD_SLOWEST_BYTES_PER_SECOND: z.coerce
    .number()
    .int()
    .min(1)
    .max(16 * mebibyte)
    .default(16 * 1024)
    .describe('An audio file that comes more slowly than this is given up'),
  TRACK_UPLOAD_SLOW_FOR_MS: milliseconds(50, 10 * minute, 10 * second).describe(
    'Stretch of time in which the speed of fetching an audio file is measured',
  ),
  TRACK_UPLOAD_RETRY_SCHEDULE_MS: delaysSetting([10 * second, minute, 10 * minute, hour]).describe(
    'Delay before each further run of a track upload that met something that may pass, in ms, separated by commas',
  ),
  TRACK_UPLOAD_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(0)
    .max(64)
    .default(16)
    .describe(
      'Track uploads that a replica fetches at a time, which are read one after another; 0 leaves them to the others',
    ),
  TRACK_UPLOAD_ORGANISATION_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(32)
    .default(4)
    .describe(
      'Track uploads of one organisation that are worked on at a time, by all replicas together; never more than half of `TRACK_UPLOAD_CONCURRENCY`, but one',
    ),
  TRACK_UPLOAD_LEASE_MS: milliseconds(500, 10 * minute, 30 * second).describe(
    'After so long without a sign of life a replica has lost the track upload it works on',
  ),
  TRACK_UPLOAD_DIRECTORY: z
    .string()
    .optional()
    .describe("Where audio is kept while it is read; by default the system's temporary directory"),
  TRACK_UPLOAD_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3650)
    .default(90)
    .describe(
      'Days after which a track upload that completed or failed is deleted; 0 keeps all. Reading it is then 404; the track stays in the Store',
    ),
  TRACK_UPLOAD_QUEUE_PREFIX: keyPrefix('creator').describe(
    'First part of the BullMQ keys in Redis, for suites that share one',
  ),
  ...guardedClientSettings,
});
export const creatorApiSettings = fields.superRefine(rejectLoopbackTargetsInPublic);
export type CreatorApiSettings = z.output<typeof creatorApiSettings>;

/** Nest's token for the settings. */
export const CONFIG = Symbol('CONFIG');
