import { statement, type Transaction } from '@fulfilment/database';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';

/** Deliveries that one transaction moves: some tens of milliseconds. */
export const batchSize = 1_000;
/** Held deliveries of a subscription; beyond it the oldest are given up. */
const mostHeld = 10_000;
/** With so many due a receiver has enough to do: no more are set going before it has taken some. */
const enoughDue = 500;

// Each statement is to find its batch by an index of its own, and the rows by day and key. Other joins than that would read whole days.
const byIndex = statement(
  'moves.by-index',
  "SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)",
);

// What the owner asked for by hand is sent all the same.
const hold = statement(
  'moves.hold',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries
     WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND trigger NOT IN ('manual', 'test')
     ORDER BY next_attempt_at LIMIT ${batchSize} FOR UPDATE
   )
   UPDATE webhook_deliveries d SET status = 'held', next_attempt_at = NULL
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`,
);
// IS NOT DISTINCT FROM cannot be looked up in an index, so PostgreSQL finds the batch by its keys and does not look through all that are held.
const expireExcess = statement(
  'moves.expire-excess',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries WHERE subscription_id = $1 AND status = 'held'
     ORDER BY created_at DESC OFFSET ${mostHeld} LIMIT ${batchSize}
   )
   UPDATE webhook_deliveries d SET status = 'failed', failure_reason = 'expired', completed_at = now()
   FROM batch WHERE d.day = batch.day AND d.id = batch.id AND d.status IS NOT DISTINCT FROM 'held'`,
);
// Never waits for a lock, since others lock the same rows in another order.
const expireOld = statement(
  'moves.expire-old',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries WHERE status = 'held' AND created_at < now() - interval '7 days'
     ORDER BY created_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
   )
   UPDATE webhook_deliveries d SET status = 'failed', failure_reason = 'expired', completed_at = now()
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`,
);
// Older ones wait for the owner to recover them.
const release = statement(
  'moves.release',
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries
     WHERE subscription_id = $1 AND status = 'held' AND created_at > now() - interval '72 hours'
     ORDER BY created_at LIMIT ${batchSize} FOR UPDATE
   )
   UPDATE webhook_deliveries d SET status = 'retrying', next_attempt_at = now()
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`,
);
// A delivery that had ended, and was open for a retry by hand only, ends as it had ended. One in flight ends when it is settled.
const cancelOf = (statuses: string): string =>
  `WITH batch AS (
     SELECT day, id FROM webhook_deliveries WHERE subscription_id = $1 AND status IN (${statuses})
     LIMIT ${batchSize} FOR UPDATE
   )
   UPDATE webhook_deliveries d SET next_attempt_at = NULL,
     status = CASE WHEN prior_completed_at IS NULL THEN 'failed' ELSE prior_status END,
     failure_reason = CASE WHEN prior_completed_at IS NULL THEN 'subscription_deleted' ELSE prior_failure_reason END,
     completed_at = coalesce(prior_completed_at, now())
   FROM batch WHERE d.day = batch.day AND d.id = batch.id`;
const cancelOpen = statement('moves.cancel-open', cancelOf("'pending', 'retrying'"));
const cancelHeld = statement('moves.cancel-held', cancelOf("'held'"));

const countDue = statement(
  'moves.count-due',
  `SELECT count(*) AS count FROM (
     SELECT FROM webhook_deliveries WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND next_attempt_at <= now()
     LIMIT ${enoughDue}
   ) AS due`,
);

/** Moves a batch of a subscription's deliveries to where its state says they belong. Answers whether there may be more. */
export async function alignBatch(tx: Transaction, id: string, state: SubscriptionState): Promise<boolean> {
  await tx.row(byIndex);
  if (state === 'active') return (await tx.run(release, [id])) === batchSize;
  if (state === 'deleted') {
    const [open, held] = [await tx.run(cancelOpen, [id]), await tx.run(cancelHeld, [id])];
    return open === batchSize || held === batchSize;
  }
  const [held, expired] = [await tx.run(hold, [id]), await tx.run(expireExcess, [id])];
  return held === batchSize || expired === batchSize;
}

/** Gives up deliveries that were held for seven days. Answers whether there may be more. */
export async function expireBatch(tx: Transaction): Promise<boolean> {
  await tx.row(byIndex);
  return (await tx.run(expireOld)) === batchSize;
}

/** Whether a receiver has enough to do already. */
export async function isBusy(tx: Transaction, id: string): Promise<boolean> {
  const due = await tx.row<{ count: number }>(countDue, [id]);
  return due !== undefined && due.count >= enoughDue;
}

/** A recovery that has been begun and may not have been finished. */
export interface OpenRecovery {
  readonly id: string;
  readonly subscription_id: string;
}

// Recovered deliveries begin the schedule anew. What failed after the recovery was asked for is left out, so each is set going once.
const recover = statement(
  'moves.recover',
  `WITH wanted AS (SELECT * FROM webhook_recoveries WHERE id = $1), batch AS (
     (SELECT d.day, d.id, d.status FROM webhook_deliveries d, wanted w
      WHERE d.subscription_id = $2 AND d.status = 'failed' AND NOT d.test AND 'failed' = ANY(w.statuses)
        AND d.created_at BETWEEN w.since AND w.until AND d.completed_at <= w.created_at
      ORDER BY d.created_at LIMIT ${batchSize / 2})
     UNION ALL
     (SELECT d.day, d.id, d.status FROM webhook_deliveries d, wanted w
      WHERE d.subscription_id = $2 AND d.status = 'held' AND 'held' = ANY(w.statuses) AND d.created_at BETWEEN w.since AND w.until
      ORDER BY d.created_at LIMIT ${batchSize / 2})
   )
   UPDATE webhook_deliveries d SET status = 'pending', next_attempt_at = now(), completed_at = NULL, failure_reason = NULL,
     trigger = 'recover', schedule_step = 0
   FROM batch WHERE d.day = batch.day AND d.id = batch.id AND d.status = batch.status`,
);

/** Sets going a batch of what a recovery is for. Answers whether there may be more. */
export async function recoverBatch(tx: Transaction, recovery: OpenRecovery): Promise<boolean> {
  await tx.row(byIndex);
  return (await tx.run(recover, [recovery.id, recovery.subscription_id])) > 0;
}
