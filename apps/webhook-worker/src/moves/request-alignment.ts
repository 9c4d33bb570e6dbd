import { statement, type Transaction } from '@fulfilment/database';

const request = statement(
  'moves.request-alignment',
  `INSERT INTO webhook_alignments (subscription_id) SELECT unnest($1::uuid[]) ORDER BY 1
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);

/**
 * Asks for the deliveries of subscriptions to be brought in line with them, in the transaction that moves these. A running service does it
 * within a second, at once when it was `MoveDeliveries.align` that asked.
 */
export async function requestAlignment(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
  if (subscriptionIds.length > 0) await tx.run(request, [subscriptionIds]);
}
