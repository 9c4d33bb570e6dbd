/** Receivers that fail or are slow wait in a lane of their own, so they cannot keep others waiting. */
export const lanes = ['fast', 'slow'] as const;
export type Lane = (typeof lanes)[number];

/** Subscriptions one process drains at a time. A drain mostly waits for its receiver. */
export const drainsAtATime = { fast: 300, slow: 100 } as const satisfies Record<Lane, number>;

/** From here on a receiver counts as failing. */
export const failingAfterFailures = 3;
/** Above this moving average a receiver counts as slow. */
export const slowAboveMs = 2_000;

/** Deliveries one process has under way to one subscription: a receiver that fails, or was never heard of, is probed with one until it answers 2xx. */
export const deliveriesAtATime = { healthy: 8, slow: 4, failing: 1, unknown: 1 } as const;
