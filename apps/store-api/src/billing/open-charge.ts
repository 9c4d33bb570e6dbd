/** Status of a row of `charges`. A recharge has a row of its own. */
export type ChargeStatus = 'pending' | 'succeeded' | 'declined' | 'refund_due' | 'refunded';

/**
 * SQL for the members of an `OpenCharge`, from the table `charges AS c`. `isFirstRequest` is false, since an
 * earlier request may have been sent for a charge that is read from the table.
 */
export const openChargeColumns = `c.id, c.order_id AS "orderId", json_build_object('amount', c.amount, 'currency', c.currency) AS amount,
   c.payment_method AS "paymentMethod", c.provider_reference AS reference, c.created_at AS "createdAt",
   false AS "isFirstRequest", c.test AS "isTest"`;
