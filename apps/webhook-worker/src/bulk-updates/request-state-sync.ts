import { statement, type Transaction } from '@fulfilment/database';

const request = statement(
  'bulk-updates.request-state-sync',
  `INSERT INTO webhook_alignments (subscription_id) SELECT unnest($1::uuid[]) ORDER BY 1
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);

/**
 * Requests that deliveries are updated to the state that their subscriptions require, in the transaction that
 * changes this state. A running service does so within a second; at once when called by
 * `BulkUpdates.syncState`.
 */
export async function requestStateSync(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
  if (subscriptionIds.length > 0) await tx.run(request, [subscriptionIds]);
}
