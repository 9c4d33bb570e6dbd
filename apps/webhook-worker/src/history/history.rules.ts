/** Statuses of deliveries that can be recovered. */
export const recoverableStatuses = ['failed', 'held'] as const;
export type RecoverableStatus = (typeof recoverableStatuses)[number];

/** Limits per subscription and minute. A retry of a test event counts as a test event. */
export const maxOwnerRequestsPerMinute = { test: 10, retry: 60, recover: 6 } as const;
export type OwnerRequestKind = keyof typeof maxOwnerRequestsPerMinute;

/**
 * The response to a recovery says how many deliveries match, up to this number of each status, the newest
 * first. Counting more would take too long.
 */
export const maxCountedDeliveries = 100_000;

/** The history of a delivery shows this many of its newest attempts. */
export const maxAttempts = 100;
/**
 * The newest 25 attempts are shown with the whole stored response: those of two schedules of 12 attempts, for
 * example before and after a recovery, and a manual retry.
 */
export const attemptsWithFullResponse = 25;
/**
 * Older attempts are shown with this many bytes of the response body, so that the whole history stays below
 * 4 MiB, whatever receivers send.
 */
export const olderBodyBytes = 256;

/** The health of a receiver covers a period of at most seven days. */
export const maxHealthHours = 7 * 24;
/** The health covers the newest deliveries of the period. */
export const maxHealthDeliveries = 1_000;
/** The health covers the newest attempts of each of these deliveries. */
export const maxHealthAttempts = 100;
/** The health lists this many kinds of outcomes, the most frequent ones. */
export const maxOutcomes = 50;
