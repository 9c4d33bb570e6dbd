import { type Sql, statement } from '@fulfilment/database';
import { notFound, Unprocessable } from '@fulfilment/error-envelope';

const readBilling = statement(
  'orders.billing',
  'SELECT payment_method, payment_terms_accepted FROM creators WHERE id = $1',
);

/** How a creator pays. @throws Unprocessable while the creator cannot be charged, NotFound for one that is not known */
export async function paymentMethodOf(sql: Sql, creatorId: string): Promise<string> {
  const billing = await sql.row<{ payment_method: string | null; payment_terms_accepted: boolean }>(
    readBilling,
    [creatorId],
  );
  if (billing === undefined) return notFound('connected creator');
  if (billing.payment_method === null) {
    throw new Unprocessable('The creator has no payment method.', [
      { field: 'billing', reason: 'payment_method_missing' },
    ]);
  }
  if (!billing.payment_terms_accepted) {
    throw new Unprocessable('The creator has not accepted the payment terms.', [
      { field: 'billing', reason: 'payment_terms_not_accepted' },
    ]);
  }
  return billing.payment_method;
}
