import { type Statement, statement, type Transaction } from '@fulfilment/database';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';

/** Maximum number of deliveries that one statement updates, in some tens of milliseconds. */
export const batchSize = 1_000;
/** Maximum number of held deliveries of a subscription; beyond it the oldest expire. */
const maxHeld = 10_000;
/** While a subscription has this many due deliveries, no more of its deliveries are released or recovered. */
const busyThreshold = 500;

// Each statement finds its batch in an index, and the rows to update by day and id. Hash and merge joins
// would read whole partitions.
const preferIndexes = statement(
  'bulk-updates.prefer-indexes',
  "SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)",
);

// Excludes manual retries and test events, which are sent even while the subscription is disabled.
const hold = statement(
  'bulk-updates.hold',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries
     WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND trigger NOT IN ('manual', 'test')
     ORDER BY next_attempt_at LIMIT ${batchSize} FOR UPDATE
   )
   UPDATE webhook_deliveries d SET status = 'held', next_attempt_at = NULL
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`,
);
// IS NOT DISTINCT FROM cannot use an index, unlike `=`. So PostgreSQL finds the rows of the batch by key, and
// does not scan the index of all held deliveries.
const expireExcess = statement(
  'bulk-updates.expire-excess',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries WHERE subscription_id = $1 AND status = 'held'
     ORDER BY created_at DESC OFFSET ${maxHeld} LIMIT ${batchSize}
   )
   UPDATE webhook_deliveries d SET status = 'failed', failure_reason = 'expired', completed_at = now()
   FROM batch WHERE d.day = batch.day AND d.id = batch.id AND d.status IS NOT DISTINCT FROM 'held'`,
);
// Skips locked rows. A wait for them could deadlock: other statements lock the same rows in another order.
const expireOld = statement(
  'bulk-updates.expire-old',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries WHERE status = 'held' AND created_at < now() - interval '7 days'
     ORDER BY created_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
   )
   UPDATE webhook_deliveries d SET status = 'failed', failure_reason = 'expired', completed_at = now()
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`,
);
// Older held deliveries wait for a recovery by the owner.
const release = statement(
  'bulk-updates.release',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries
     WHERE subscription_id = $1 AND status = 'held' AND created_at > now() - interval '72 hours'
     ORDER BY created_at LIMIT ${batchSize} FOR UPDATE
   )
   UPDATE webhook_deliveries d SET status = 'retrying', next_attempt_at = now()
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`,
);
// A delivery that is open only because of a manual retry gets its previous final state. A delivery in flight
// ends when it is settled.
const cancelStatement = (statuses: string): string =>
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries WHERE subscription_id = $1 AND status IN (${statuses})
     LIMIT ${batchSize} FOR UPDATE
   )
   UPDATE webhook_deliveries d SET next_attempt_at = NULL,
     status = CASE WHEN prior_completed_at IS NULL THEN 'failed' ELSE prior_status END,
     failure_reason = CASE WHEN prior_completed_at IS NULL THEN 'subscription_deleted' ELSE prior_failure_reason END,
     completed_at = coalesce(prior_completed_at, now())
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`;
const cancelOpen = statement('bulk-updates.cancel-open', cancelStatement("'pending', 'retrying'"));
const cancelHeld = statement('bulk-updates.cancel-held', cancelStatement("'held'"));

const countDue = statement(
  'bulk-updates.count-due',
  `SELECT count(*) AS count FROM (
     SELECT FROM webhook_deliveries WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND next_attempt_at <= now()
     LIMIT ${busyThreshold}
   ) AS due`,
);

const updatesByState: Readonly<Record<SubscriptionState, readonly Statement[]>> = {
  active: [release],
  disabled: [hold, expireExcess],
  deleted: [cancelOpen, cancelHeld],
};

/**
 * Updates a batch of deliveries to the state that their subscription requires. Returns whether there may be
 * more.
 */
export async function applySubscriptionState(
  tx: Transaction,
  subscriptionId: string,
  state: SubscriptionState,
): Promise<boolean> {
  await tx.row(preferIndexes);
  const updated: number[] = [];
  for (const update of updatesByState[state]) updated.push(await tx.run(update, [subscriptionId]));
  return updated.includes(batchSize);
}

/** Expires a batch of held deliveries that are older than seven days. Returns whether there may be more. */
export async function expireBatch(tx: Transaction): Promise<boolean> {
  await tx.row(preferIndexes);
  return (await tx.run(expireOld)) === batchSize;
}

/** Whether a subscription has so many due deliveries that no more may be released or recovered yet. */
export async function isBusy(tx: Transaction, subscriptionId: string): Promise<boolean> {
  const due = await tx.row<{ count: number }>(countDue, [subscriptionId]);
  return due !== undefined && due.count >= busyThreshold;
}

/** A state sync, whose id is that of the subscription, or a recovery that may have deliveries left. */
export interface DueItem {
  readonly id: string;
  readonly subscription_id: string;
}

// Recovered deliveries restart their schedule. Deliveries that failed after the request are excluded, so each
// is recovered once. Each of the two statuses gets half of the batch.
const recover = statement(
  'bulk-updates.recover',
  `WITH recovery AS (SELECT * FROM webhook_recoveries WHERE id = $1), batch AS (
     (SELECT d.day, d.id, d.status FROM webhook_deliveries d, recovery r
      WHERE d.subscription_id = $2 AND d.status = 'failed' AND NOT d.test AND 'failed' = ANY(r.statuses)
        AND d.created_at BETWEEN r.since AND r.until AND d.completed_at <= r.created_at
      ORDER BY d.created_at LIMIT ${batchSize / 2})
     UNION ALL
     (SELECT d.day, d.id, d.status FROM webhook_deliveries d, recovery r
      WHERE d.subscription_id = $2 AND d.status = 'held' AND 'held' = ANY(r.statuses) AND d.created_at BETWEEN r.since AND r.until
      ORDER BY d.created_at LIMIT ${batchSize / 2})
   )
   UPDATE webhook_deliveries d SET status = 'pending', next_attempt_at = now(), completed_at = NULL, failure_reason = NULL,
     trigger = 'recover', schedule_step = 0, attempts_before_schedule = d.attempt_count
   FROM batch WHERE d.day = batch.day AND d.id = batch.id AND d.status = batch.status`,
);

/** Makes a batch of the deliveries of a recovery due. Returns whether there may be more. */
export async function recoverBatch(tx: Transaction, recovery: DueItem): Promise<boolean> {
  await tx.row(preferIndexes);
  return (await tx.run(recover, [recovery.id, recovery.subscription_id])) > 0;
}
