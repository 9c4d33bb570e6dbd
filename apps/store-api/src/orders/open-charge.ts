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
  /** Under which of its keys the provider is asked: 1 is the charge's id. */
  readonly keyNumber: number;
  /** When that key was found to be spent (`KeySpent`); null while it may be asked under. */
  readonly keySpentAt: Date | null;
}

/** @param charge the alias of the table `charges` */
export function openChargeColumns(charge: string): string {
  return (
    `${charge}.id, ${charge}.order_id AS "orderId", ${charge}.amount, ${charge}.currency, ${charge}.payment_method AS "paymentMethod", ` +
    `${charge}.provider_reference AS reference, ${charge}.created_at AS "createdAt", ` +
    `${charge}.key_number AS "keyNumber", ${charge}.key_spent_at AS "keySpentAt"`
  );
}
