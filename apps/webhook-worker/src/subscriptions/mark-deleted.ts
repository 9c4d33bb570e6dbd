import { type Sql, type Statement, statement, type Transaction } from '@fulfilment/database';
import type { BulkUpdateRequests } from './bulk-update-requests.js';

/** The cause of a subscription's deletion. */
export type DeletedReason = 'owner' | 'operator' | 'client_deleted' | 'client_disconnected';

/**
 * Returns the statement that marks subscriptions as deleted. The row stays as long as its deliveries, without
 * its secrets and keys.
 * @param condition SQL; `$1` is the reason
 */
export function deletionStatement(name: string, condition: string): Statement {
  return statement(
    name,
    `UPDATE webhook_subscriptions SET deleted_at = now(), deleted_reason = $1, secret = '', previous_secret = NULL,
       signing_key = NULL, previous_signing_key = NULL
     WHERE deleted_at IS NULL AND ${condition} RETURNING id`,
  );
}

/**
 * Marks subscriptions as deleted, which stops all deliveries, including retries, and requests their state
 * sync. Returns the ids of the subscriptions.
 */
export async function markDeleted(
  tx: Transaction,
  bulkUpdates: BulkUpdateRequests,
  deletion: Statement,
  { reason, values }: { readonly reason: DeletedReason; readonly values: readonly unknown[] },
): Promise<string[]> {
  const ids = (await tx.rows<{ id: string }>(deletion, [reason, ...values])).map(({ id }) => id);
  await bulkUpdates.requestStateSync(tx, ids);
  return ids;
}

// Deliveries are kept for 30 days (day-partitions.ts).
const deleteExpired = statement(
  'subscriptions.delete-expired',
  `DELETE FROM webhook_subscriptions WHERE id = ANY(ARRAY(
     SELECT id FROM webhook_subscriptions WHERE deleted_at < now() - interval '31 days' LIMIT 1000))`,
);

/** Deletes up to 1000 subscriptions that were marked as deleted 31 days ago. Returns their number. */
export function deleteExpiredSubscriptions(sql: Sql): Promise<number> {
  return sql.run(deleteExpired);
}
