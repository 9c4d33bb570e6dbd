/** Status of a row of `charges`. A recharge has a row of its own. */
export type ChargeStatus = 'pending' | 'succeeded' | 'declined' | 'refund_due' | 'refunded';

/**
 * SQL for the members of an `OpenCharge`. `isFirstRequest` is false, since an earlier request may have been
 * sent for a charge that is read from the table.
 * @param charge the alias of the table `charges`
 */
export function openChargeColumns(charge: string): string {
  return (
    `${charge}.id, ${charge}.order_id AS "orderId", json_build_object('amount', ${charge}.amount, 'currency', ${charge}.currency) AS amount, ` +
    `${charge}.payment_method AS "paymentMethod", ${charge}.provider_reference AS reference, ${charge}.created_at AS "createdAt", ` +
    `false AS "isFirstRequest", ${charge}.test AS "isTest"`
  );
}
