import { type Sql, statement } from '@fulfilment/database';
import { maxCountedDue } from './subscription.rules.js';
import { noLag, type SubscriptionLag } from './subscription.view.js';

// Reads the oldest due deliveries from the index of open deliveries, however many are due.
const readDue = statement(
  'subscriptions.lag',
  `SELECT count(*)::int AS due_deliveries, min(next_attempt_at) AS oldest_due_at FROM (
     SELECT next_attempt_at FROM webhook_deliveries
     WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND next_attempt_at <= now()
     ORDER BY next_attempt_at LIMIT ${maxCountedDue}) AS due`,
);

/** Returns what waits to be sent for a subscription. */
export async function readLag(sql: Sql, subscriptionId: string): Promise<SubscriptionLag> {
  return (await sql.row<SubscriptionLag>(readDue, [subscriptionId])) ?? noLag;
}
