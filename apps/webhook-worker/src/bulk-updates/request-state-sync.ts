import { statement, type Transaction } from '@fulfilment/database';

const request = statement(
  'moves.request-alignment',
  `INSERT INTO webhook_alignments (subscription_id) SELECT unnest($1::uuid[]) ORDER BY 1
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);

/**
 * Asks for the deliveries of subscriptions to be moved to where these' state says they belong, in the transaction that changes it. A running service
 * does so within a second; at once when `MoveDeliveries.align` asked.
 */
export async function requestAlignment(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
  if (subscriptionIds.length > 0) await tx.run(request, [subscriptionIds]);
}
