export const deliveryStatuses = ['pending', 'in_flight', 'retrying', 'held', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Why a delivery failed for good. */
export const failureReasons = ['exhausted', 'expired', 'gone', 'subscription_deleted'] as const;
export type FailureReason = (typeof failureReasons)[number];

/** What makes an attempt. */
export const triggers = ['auto', 'manual', 'recover', 'test'] as const;
export type Trigger = (typeof triggers)[number];

/** What a recovery may set going again. */
export const recoverable = ['failed', 'held'] as const;
export type Recoverable = (typeof recoverable)[number];

/** How often a subscription may have something sent by hand in a minute. A retry of a test event is a test. */
export const sendsPerMinute = { test: 10, retry: 60 } as const;
export type SendByHand = keyof typeof sendsPerMinute;

/** An answer shows the newest attempts of a delivery … */
export const mostAttempts = 100;
/** … with all that was kept of what was answered to as many as a schedule has, twice, and to one by hand … */
export const attemptsInFull = 25;
/** … and with the beginning of it for those before. So one answer weighs less than 4 MiB, whatever receivers send. */
export const bodyBytesOfOlder = 256;
