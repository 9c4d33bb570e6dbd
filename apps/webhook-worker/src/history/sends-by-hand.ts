import { statement, type Transaction } from '@fulfilment/database';
import { RateLimited } from '@fulfilment/error-envelope';
import { sendsPerMinute, type SendByHand } from './history.rules.js';

const recent = statement(
  'history.recent-sends-by-hand',
  `SELECT count(*) AS count, extract(epoch FROM min(at) + interval '1 minute' - now())::float8 AS wait_seconds
   FROM webhook_sends_by_hand, unnest(asked_at) AS at
   WHERE subscription_id = $1 AND kind = $2 AND at > now() - interval '1 minute'`,
);
const record = statement(
  'history.record-send-by-hand',
  `INSERT INTO webhook_sends_by_hand AS s (subscription_id, kind, asked_at) VALUES ($1, $2, ARRAY[now()])
   ON CONFLICT (subscription_id, kind) DO UPDATE
     SET asked_at = ARRAY(SELECT at FROM unnest(s.asked_at) AS at WHERE at > now() - interval '1 minute') || now()`,
);

/**
 * Counts a test, or a retry by hand, of a subscription that is locked: taking turns makes the count exact. What is rolled back does not count.
 *
 * @throws RateLimited after as many as there may be in a minute
 */
export async function countSend(tx: Transaction, subscriptionId: string, kind: SendByHand): Promise<void> {
  const found = await tx.row<{ count: number; wait_seconds: number | null }>(recent, [subscriptionId, kind]);
  if (found !== undefined && found.count >= sendsPerMinute[kind]) {
    throw new RateLimited(found.wait_seconds ?? 1);
  }
  await tx.run(record, [subscriptionId, kind]);
}
