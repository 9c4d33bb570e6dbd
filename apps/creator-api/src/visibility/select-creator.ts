import type { Currency } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';

// Row-level security hides other creators, so the setting is never the id of one that the caller may not see.
const select = statement(
  'visibility.select-creator',
  `SELECT settlement_currency AS currency, set_config('suite.creator_id', id::text, true) FROM creators WHERE id = $1`,
);

/**
 * Verifies that the caller sees the creator, and sets `suite.creator_id` for the transaction: its later
 * statements need no check of each row of this creator (ADR 7). Returns the currency in which the creator is
 * paid.
 * @throws NotFound when the creator is not visible to the caller
 */
export async function selectCreator(
  tx: Transaction,
  creatorId: string,
): Promise<{ readonly currency: Currency }> {
  return (await tx.row<{ currency: Currency }>(select, [creatorId])) ?? throwNotFound('creator');
}
