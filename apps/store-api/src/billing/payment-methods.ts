import { type Sql, statement } from '@fulfilment/database';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';

/** How a creator pays. */
export interface Billing {
  readonly paymentMethod: string | null;
  readonly termsAccepted: boolean;
  /** Whether the creator is a test creator, whose charges move no money. */
  readonly isTest: boolean;
}

const readBilling = statement(
  'creators.billing',
  'SELECT payment_method AS "paymentMethod", payment_terms_accepted AS "termsAccepted", test AS "isTest" FROM creators WHERE id = $1',
);

/** Returns the payment method of a creator. @throws as `requireChargeable` */
export async function requirePaymentMethod(sql: Sql, creatorId: string): Promise<string> {
  return requireChargeable(await sql.row<Billing>(readBilling, [creatorId])).paymentMethod;
}

/**
 * Returns how a creator is charged.
 * @throws Unprocessable while the creator cannot be charged; NotFound for an unknown creator
 */
export function requireChargeable(
  billing: Billing | null | undefined,
): Billing & { readonly paymentMethod: string } {
  const { paymentMethod, ...others } = billing ?? throwNotFound('connected creator');
  if (paymentMethod === null) {
    throw new Unprocessable('The creator has no payment method.', [
      { field: 'billing', reason: 'payment_method_missing' },
    ]);
  }
  if (!others.termsAccepted) {
    throw new Unprocessable('The creator has not accepted the payment terms.', [
      { field: 'billing', reason: 'payment_terms_not_accepted' },
    ]);
  }
  return { paymentMethod, ...others };
}
