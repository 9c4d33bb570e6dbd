/** What a recovery may set going again. */
export const recoverable = ['failed', 'held'] as const;
export type Recoverable = (typeof recoverable)[number];

/** How often a subscription may have something sent by hand in a minute. A retry of a test event is a test. */
export const sendsPerMinute = { test: 10, retry: 60 } as const;
export type SendByHand = keyof typeof sendsPerMinute;

/** The history of a delivery shows so many attempts, the newest. */
export const mostAttempts = 100;
/** The newest 25 (twice a schedule of 12, plus one by hand) with the whole kept answer. */
export const attemptsInFull = 25;
/** The others with the first bytes of it. So one answer of ours weighs less than 4 MiB, whatever receivers send. */
export const bodyBytesOfOlder = 256;
