export const deliveryStatuses = ['pending', 'in_flight', 'retrying', 'held', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * Reasons of the final failure of a delivery. `exhausted`: its last attempt failed; `expired`: it was held
 * until it was 7 days old, or too many deliveries of its subscription were held; `gone`: the receiver
 * responded with 410.
 */
export const failureReasons = ['exhausted', 'expired', 'gone', 'subscription_deleted'] as const;
export type FailureReason = (typeof failureReasons)[number];

/**
 * The cause of an attempt; of a delivery, the cause of its next attempt.
 * - `auto`: the first attempt, or a retry of the schedule
 * - `manual`: the owner retried this delivery
 * - `recover`: the owner recovered the deliveries of a time span
 * - `test`: any attempt of a test event
 */
export const triggers = ['auto', 'manual', 'recover', 'test'] as const;
export type Trigger = (typeof triggers)[number];
