import type { Currency } from '@fulfilment/contracts';

/** A charge row whose outcome is not known: one attempt at charging an order. */
export interface OpenCharge {
  readonly id: string;
  readonly orderId: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: Currency;
  readonly paymentMethod: string;
  /** What the provider calls it, once it has said so. */
  readonly reference: string | null;
  readonly createdAt: Date;
  /** How old the row was when it was read. As `keySpentForMs` by PostgreSQL's clock: the replicas' own may differ. */
  readonly ageMs: number;
  /** Under which of its keys the provider is asked: 1 is the charge's id. */
  readonly keyNumber: number;
  /** How long that key has been known to be spent (`KeySpent`) when the row was read; null while it may be asked under. */
  readonly keySpentForMs: number | null;
  /** Under whom the provider's books have what came of the first key, once that is spent; null: under nobody, or it is not known. */
  readonly spentCustomer: string | null;
}

/** @param charge the alias of the table `charges` */
export function openChargeColumns(charge: string): string {
  return (
    `${charge}.id, ${charge}.order_id AS "orderId", ${charge}.amount, ${charge}.currency, ${charge}.payment_method AS "paymentMethod", ` +
    `${charge}.provider_reference AS reference, ${charge}.created_at AS "createdAt", ` +
    `${charge}.key_number AS "keyNumber", ${charge}.spent_customer AS "spentCustomer", ` +
    `${msSince(`${charge}.created_at`)} AS "ageMs", ${msSince(`${charge}.key_spent_at`)} AS "keySpentForMs"`
  );
}

function msSince(time: string): string {
  return `floor(extract(epoch FROM now() - ${time}) * 1000)::bigint`;
}
