import { guardedClientSettings, rejectLoopbackTargetsOfPublicSuite } from '@fulfilment/guarded-fetch';
import { apiSettings, operationQuotaSettings } from '@fulfilment/http-service/settings';
import { delaysSetting, integerSetting } from '@fulfilment/runtime';
import { z } from 'zod';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const mebibyte = 1024 * 1024;

const settings = apiSettings.extend({
  RATE_LIMIT_STATS: operationQuotaSettings.RATE_LIMIT_STATS,
  STATISTICS_CLOSE_DAY: integerSetting({ min: 0, max: 28, default: 5 }).describe(
    'Day of the following month on which a month of statistics closes, at 00:00 UTC. Later postings count in the first open month, so the statistics of a closed month never change. 0 closes no month; use it only to rebuild a lost ledger',
  ),
  EXCHANGE_RATES_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'URL of the ECB reference rates as XML or CSV, preferably the file of the last 90 days. Without it no rates are fetched; load them with `ops rates load`',
    ),
  EXCHANGE_RATES_INTERVAL_MS: integerSetting({
    min: minuteMs,
    max: 7 * 24 * hourMs,
    default: 6 * hourMs,
  }).describe(
    'Delay between two fetches of the exchange rates, in ms; a failed fetch is retried after 5 minutes',
  ),
  TRACK_UPLOAD_MAX_BYTES: integerSetting({ min: 1, max: 4096 * mebibyte, default: 512 * mebibyte }).describe(
    'Maximum size of an audio file in bytes; a replica needs disk space for TRACK_UPLOAD_CONCURRENCY such files',
  ),
  TRACK_UPLOAD_TIMEOUT_MS: integerSetting({ min: 50, max: 2 * hourMs, default: 10 * minuteMs }).describe(
    'Timeout of the download of one audio file, in ms',
  ),
  TRACK_UPLOAD_SLOWEST_BYTES_PER_SECOND: integerSetting({
    min: 1,
    max: 16 * mebibyte,
    default: 16 * 1024,
  }).describe('Minimum download speed of an audio file, in bytes per second; a slower download is aborted'),
  TRACK_UPLOAD_SLOW_FOR_MS: integerSetting({ min: 50, max: 10 * minuteMs, default: 10 * secondMs }).describe(
    'Time window in which the download speed is measured, in ms; the response must begin within it',
  ),
  TRACK_UPLOAD_RETRY_SCHEDULE_MS: delaysSetting([10 * secondMs, minuteMs, 10 * minuteMs, hourMs]).describe(
    'Delays before the retries of a track upload after a transient failure, in ms, separated by commas',
  ),
  TRACK_UPLOAD_CONCURRENCY: integerSetting({ min: 0, max: 64, default: 16 }).describe(
    'Maximum number of concurrent track uploads of a replica; their audio is analysed one at a time. With 0 a replica processes none',
  ),
  TRACK_UPLOAD_ORGANISATION_CONCURRENCY: integerSetting({ min: 1, max: 32, default: 4 }).describe(
    'Maximum number of concurrent track uploads of one organisation over all replicas; capped at half of `TRACK_UPLOAD_CONCURRENCY`, with a minimum of 1',
  ),
  TRACK_UPLOAD_LEASE_MS: integerSetting({ min: 500, max: 10 * minuteMs, default: 30 * secondMs }).describe(
    'Lease of a replica on the track upload that it processes, in ms; a lease that is not renewed in time is lost',
  ),
  TRACK_UPLOAD_DIRECTORY: z
    .string()
    .optional()
    .describe(
      'Directory for audio files during processing; by default the temporary directory of the system',
    ),
  TRACK_UPLOAD_RETENTION_DAYS: integerSetting({ min: 0, max: 3650, default: 90 }).describe(
    'Days after which a completed or failed track upload is deleted and its status URL returns 404; the track stays in the catalogue. 0 keeps all',
  ),
  ...guardedClientSettings,
});
export const creatorApiSettings = settings.superRefine(rejectLoopbackTargetsOfPublicSuite);
export type CreatorApiSettings = z.output<typeof creatorApiSettings>;

export { CONFIG } from '@fulfilment/runtime';
