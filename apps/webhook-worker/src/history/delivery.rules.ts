export const deliveryStatuses = ['pending', 'in_flight', 'retrying', 'held', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** What a recovery may set going again. */
export const recoverable = ['failed', 'held'] as const;
export type Recoverable = (typeof recoverable)[number];

/** Test events a subscription may get in a minute. */
export const testsPerMinute = 10;
