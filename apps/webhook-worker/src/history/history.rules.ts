/** What a recovery may set going again. */
export const recoverable = ['failed', 'held'] as const;
export type Recoverable = (typeof recoverable)[number];

/** How often the owner of a subscription may request each in a minute. A retry of a test event is a test. */
export const sendsPerMinute = { test: 10, retry: 60, recover: 6 } as const;
/** The newest deliveries of each status that a recovery counts: some tens of milliseconds. */
export const maxCounted = 100_000;
export type SendByHand = keyof typeof sendsPerMinute;

/** The history of a delivery shows so many attempts, the newest. */
export const mostAttempts = 100;
/** The newest 25 (twice a schedule of 12, plus one by hand) with the whole kept answer. */
export const attemptsInFull = 25;
/** The others with the first bytes of it. So one answer of ours weighs less than 4 MiB, whatever receivers send. */
export const bodyBytesOfOlder = 256;
