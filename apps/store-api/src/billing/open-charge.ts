import type { Currency } from '@fulfilment/contracts';

/** A charge row whose outcome is not known: one attempt at charging an order. */
export interface OpenCharge {
  readonly id: string;
  readonly orderId: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: Currency;
  readonly paymentMethod: string;
  /** The provider's id of the charge, once known. */
  readonly reference: string | null;
  readonly createdAt: Date;
  /** Age of the row when it was read. Measured by PostgreSQL's clock, as replicas' clocks may differ. */
  readonly ageMs: number;
  /** Number of the idempotency key that is sent to the provider: 1 is the charge's id. */
  readonly keyNumber: number;
  /** How long the key has been unusable (`UnusableKey`) when the row was read; null while it is usable. */
  readonly keyUnusableForMs: number | null;
  /** `UnusableKey.customer` of the charge's first key. */
  readonly lookupCustomer: string | null;
}

/** The charge of a new order, as its row was just written. */
export function newCharge(
  charge: Pick<OpenCharge, 'id' | 'orderId' | 'amount' | 'currency' | 'paymentMethod' | 'createdAt'>,
): OpenCharge {
  return {
    ...charge,
    reference: null,
    ageMs: 0,
    keyNumber: 1,
    keyUnusableForMs: null,
    lookupCustomer: null,
  };
}

/** @param charge the alias of the table `charges` */
export function openChargeColumns(charge: string): string {
  return (
    `${charge}.id, ${charge}.order_id AS "orderId", ${charge}.amount, ${charge}.currency, ${charge}.payment_method AS "paymentMethod", ` +
    `${charge}.provider_reference AS reference, ${charge}.created_at AS "createdAt", ` +
    `${charge}.key_number AS "keyNumber", ${charge}.spent_customer AS "lookupCustomer", ` +
    `${msSince(`${charge}.created_at`)} AS "ageMs", ${msSince(`${charge}.key_spent_at`)} AS "keyUnusableForMs"`
  );
}

function msSince(time: string): string {
  return `floor(extract(epoch FROM now() - ${time}) * 1000)::bigint`;
}
