import { type Statement, statement, type Transaction } from '@fulfilment/database';
import { requestAlignment } from '../moves/request-alignment.js';

/** By whom or what a subscription was deleted. */
export type DeletedReason = 'owner' | 'operator' | 'client_deleted' | 'client_disconnected';

/** The one way in which subscriptions end. The row stays for its history; the secrets go at once. @param which SQL; `$1` is the reason */
export function ending(name: string, which: string): Statement {
  return statement(
    name,
    `UPDATE webhook_subscriptions SET deleted_at = now(), deleted_reason = $1, secret = '', previous_secret = NULL
     WHERE deleted_at IS NULL AND ${which} RETURNING id`,
  );
}

/** Ends subscriptions: nothing is sent any more, retries included. Answers their ids. @param which made by `ending` */
export async function endSubscriptions(
  tx: Transaction,
  which: Statement,
  reason: DeletedReason,
  ...values: readonly unknown[]
): Promise<string[]> {
  const ended = (await tx.rows<{ id: string }>(which, [reason, ...values])).map(({ id }) => id);
  await requestAlignment(tx, ended);
  return ended;
}
