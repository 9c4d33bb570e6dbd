/** Statuses of deliveries that can be recovered. */
export const recoverableStatuses = ['failed', 'held'] as const;
export type RecoverableStatus = (typeof recoverableStatuses)[number];

/** Limits per subscription and minute. A retry of a test event counts as a test event. */
export const maxOwnerRequestsPerMinute = { test: 10, retry: 60, recover: 6 } as const;
export type OwnerRequestKind = keyof typeof maxOwnerRequestsPerMinute;

/**
 * The response to a recovery has the number of matching deliveries, counted among the newest of each status
 * up to this number. Counting more would take too long.
 */
export const maxCountedDeliveries = 100_000;

/** The history of a delivery shows this many of its newest attempts. */
export const maxAttempts = 100;
/**
 * The newest 25 attempts are shown with the whole stored response: enough for two schedules of 12 attempts,
 * such as before and after a recovery, and for a manual retry.
 */
export const attemptsWithFullResponse = 25;
/**
 * Older attempts are shown with this many bytes of the response body, so that the representation of a
 * delivery stays below 4 MiB, whatever receivers send.
 */
export const olderBodyBytes = 256;

/** Maximum period of the health of a receiver: seven days. */
export const maxHealthHours = 7 * 24;
/** Maximum number of deliveries that the health counts: the newest of the period. */
export const maxHealthDeliveries = 1_000;
/** Maximum number of attempts that the health counts for each of these deliveries: the newest. */
export const maxHealthAttempts = 100;
/** Maximum number of pairs of outcome and status that the health lists: the most frequent. */
export const maxOutcomes = 50;
