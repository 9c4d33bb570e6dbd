import { statement, type Transaction } from '@fulfilment/database';
import { RateLimited } from '@fulfilment/error-envelope';
import { maxOwnerRequestsPerMinute, type OwnerRequestKind } from '../history.rules.js';

const countRecent = statement(
  'history.count-recent-owner-requests',
  `SELECT count(*) AS count, extract(epoch FROM min(at) + interval '1 minute' - now())::float8 AS wait_seconds
   FROM webhook_owner_requests, unnest(requested_at) AS at
   WHERE subscription_id = $1 AND kind = $2 AND at > now() - interval '1 minute'`,
);
const record = statement(
  'history.record-owner-request',
  `INSERT INTO webhook_owner_requests AS known (subscription_id, kind, requested_at) VALUES ($1, $2, ARRAY[now()])
   ON CONFLICT (subscription_id, kind) DO UPDATE
     SET requested_at = ARRAY(SELECT at FROM unnest(known.requested_at) AS at WHERE at > now() - interval '1 minute') || now()`,
);

/**
 * Counts a request of an owner against the quota: a test, manual retry or recovery of a subscription. The
 * transaction must have locked the subscription, which makes the count exact. A rollback also removes the
 * record of the request.
 *
 * @throws RateLimited when the limit per minute is reached
 */
export async function consumeOwnerRequestQuota(
  tx: Transaction,
  subscriptionId: string,
  kind: OwnerRequestKind,
): Promise<void> {
  const recent = await tx.row<{ count: number; wait_seconds: number | null }>(countRecent, [
    subscriptionId,
    kind,
  ]);
  if (recent !== undefined && recent.count >= maxOwnerRequestsPerMinute[kind])
    throw new RateLimited(recent.wait_seconds ?? 1);
  await tx.run(record, [subscriptionId, kind]);
}
