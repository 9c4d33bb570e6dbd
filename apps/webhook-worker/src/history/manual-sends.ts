import { type Sql, statement, type Transaction } from '@fulfilment/database';
import { RateLimited } from '@fulfilment/error-envelope';
import { maxManualSendsPerMinute, type ManualSend } from './history.rules.js';

const recent = statement(
  'history.recent-manual-sends',
  `SELECT count(*) AS count, extract(epoch FROM min(at) + interval '1 minute' - now())::float8 AS wait_seconds
   FROM webhook_sends_by_hand, unnest(asked_at) AS at
   WHERE subscription_id = $1 AND kind = $2 AND at > now() - interval '1 minute'`,
);
const record = statement(
  'history.record-manual-send',
  `INSERT INTO webhook_sends_by_hand AS s (subscription_id, kind, asked_at) VALUES ($1, $2, ARRAY[now()])
   ON CONFLICT (subscription_id, kind) DO UPDATE
     SET asked_at = ARRAY(SELECT at FROM unnest(s.asked_at) AS at WHERE at > now() - interval '1 minute') || now()`,
);

/**
 * Counts a test, retry or recovery of a subscription. The transaction must have locked the subscription,
 * which makes the count exact. A rollback removes it.
 *
 * @throws RateLimited when the limit per minute is reached
 */
export async function recordManualSend(
  tx: Transaction,
  subscriptionId: string,
  kind: ManualSend,
): Promise<void> {
  await checkQuota(tx, subscriptionId, kind);
  await tx.run(record, [subscriptionId, kind]);
}

/**
 * Needs no lock, so that a client beyond its quota locks nothing.
 * @throws RateLimited when the limit per minute is reached
 */
export async function checkQuota(sql: Sql, subscriptionId: string, kind: ManualSend): Promise<void> {
  const sends = await sql.row<{ count: number; wait_seconds: number | null }>(recent, [subscriptionId, kind]);
  if (sends !== undefined && sends.count >= maxManualSendsPerMinute[kind]) {
    throw new RateLimited(sends.wait_seconds ?? 1);
  }
}
