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

/** Test events a subscription may get in a minute. */
export const testsPerMinute = 10;

/** An answer shows the newest attempts of a delivery … */
export const mostAttempts = 100;
/** … with all that was kept of what was answered to as many as a schedule has, twice, and to one by hand … */
export const attemptsInFull = 25;
/** … and with the beginning of it for those before. So one answer weighs less than 4 MiB, whatever receivers send. */
export const bodyBytesOfOlder = 256;
