/** Receivers that fail or are slow have a lane of their own, so that they do not delay others. */
export const lanes = ['fast', 'slow'] as const;
export type Lane = (typeof lanes)[number];

/**
 * Maximum number of concurrent attempts of one process. Each occupies a connection and memory for its body.
 */
export const maxConcurrentAttempts = { fast: 2_500, slow: 1_500 } as const satisfies Record<Lane, number>;

/**
 * Maximum number of further attempts in the fast lane, for subscriptions that already run as many attempts as
 * the initial window allows.
 */
export const maxAttemptsBeyondInitialWindow = 1_000;

/**
 * Maximum number of concurrent attempts of one process at a receiver that is not healthy. A failing or new
 * receiver gets one attempt at a time until it responds with 2xx. A healthy receiver has a window instead
 * (delivery/concurrency/window.rules.ts).
 */
export const maxUnhealthyAttempts = { slow: 4, failing: 1, new: 1 } as const;
