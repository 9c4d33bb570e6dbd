/** Statuses of deliveries that can be recovered. */
export const recoverable = ['failed', 'held'] as const;
export type Recoverable = (typeof recoverable)[number];

/** Limits per subscription and minute. A retry of a test event counts as a test. */
export const maxManualSendsPerMinute = { test: 10, retry: 60, recover: 6 } as const;
/** A recovery counts at most this many deliveries of each status, newest first: some tens of milliseconds. */
export const maxCounted = 100_000;
export type ManualSend = keyof typeof maxManualSendsPerMinute;

/** The history of a delivery shows this many of its newest attempts. */
export const maxAttempts = 100;
/**
 * The newest 25 attempts (twice a schedule of 12, plus one manual retry) are shown with the whole stored
 * response.
 */
export const fullAttempts = 25;
/**
 * Older attempts are shown with the first bytes of it, so that a response stays below 4 MiB, whatever
 * receivers send.
 */
export const olderBodyBytes = 256;
