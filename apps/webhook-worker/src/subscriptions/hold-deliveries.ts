import { statement } from '@fulfilment/database';

/**
 * Whoever moves a subscription, or its open deliveries because of its state, locks the subscription's row first. So a delivery that
 * was written while the subscription was moved is held or released by the next who looks (delivery/reconciler.ts), never forgotten.
 */

/** $1: subscriptions that were disabled. What the owner asked for by hand runs all the same. */
export const holdDeliveries = statement(
  'deliveries.hold',
  `UPDATE webhook_deliveries SET status = 'held', next_attempt_at = NULL
   WHERE subscription_id = ANY($1::uuid[]) AND status IN ('pending', 'retrying') AND trigger NOT IN ('manual', 'test')`,
);

/** $1: a subscription that was enabled again. Older ones wait for the owner to recover them. */
export const releaseDeliveries = statement(
  'deliveries.release',
  `UPDATE webhook_deliveries SET status = 'retrying', next_attempt_at = now()
   WHERE subscription_id = $1 AND status = 'held' AND created_at > now() - interval '72 hours'`,
);

/**
 * $1: subscriptions that were deleted. What is under way at this moment is ended when it is settled. What had ended and was only to be
 * tried again by hand stays as it had ended.
 */
export const cancelDeliveries = statement(
  'deliveries.cancel',
  `UPDATE webhook_deliveries SET next_attempt_at = NULL,
     status = CASE WHEN prior_completed_at IS NULL THEN 'failed' ELSE prior_status END,
     failure_reason = CASE WHEN prior_completed_at IS NULL THEN 'subscription_deleted' ELSE prior_failure_reason END,
     completed_at = coalesce(prior_completed_at, now())
   WHERE subscription_id = ANY($1::uuid[]) AND status IN ('pending', 'retrying', 'held')`,
);
