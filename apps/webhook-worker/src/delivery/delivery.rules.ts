export const deliveryStatuses = ['pending', 'in_flight', 'retrying', 'held', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * Reasons of the final failure of a delivery. `exhausted`: its last retry failed; `expired`: it was held for
 * 7 days; `gone`: the receiver responded with 410.
 */
export const failureReasons = ['exhausted', 'expired', 'gone', 'subscription_deleted'] as const;
export type FailureReason = (typeof failureReasons)[number];

/** The cause of an attempt. */
export const triggers = ['auto', 'manual', 'recover', 'test'] as const;
export type Trigger = (typeof triggers)[number];
