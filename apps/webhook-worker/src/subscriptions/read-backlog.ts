import { type Sql, statement } from '@fulfilment/database';
import { maxCountedDue } from './subscription.rules.js';
import { noBacklog, type SubscriptionBacklog } from './subscription.view.js';

// Reads at most `maxCountedDue` rows, so the cost does not grow with the backlog.
const readDue = statement(
  'subscriptions.backlog',
  `SELECT count(*)::int AS due_deliveries, min(next_attempt_at) AS oldest_due_at FROM (
     SELECT next_attempt_at FROM webhook_deliveries
     WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND next_attempt_at <= now()
     ORDER BY next_attempt_at LIMIT ${maxCountedDue}) AS due`,
);

export async function readBacklog(sql: Sql, subscriptionId: string): Promise<SubscriptionBacklog> {
  return (await sql.row<SubscriptionBacklog>(readDue, [subscriptionId])) ?? noBacklog;
}
