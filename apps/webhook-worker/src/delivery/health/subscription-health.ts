import { RowParameters, statement, type Transaction } from '@fulfilment/database';
import type { Health } from './health.rules.js';

export interface SubscriptionHealth extends Health {
  readonly id: string;
  readonly creatorId: string;
  readonly clientId: string;
  readonly url: string;
}

// Skips rows that other transactions have locked, so that they do not delay the other tenants of the batch.
// Rows of deleted subscriptions are included, so a missing row is locked by another transaction.
const lockHealth = statement(
  'subscriptions.lock-health',
  `SELECT id, creator_id AS "creatorId", client_id AS "clientId", url, now() AS now, status,
     consecutive_failures AS "consecutiveFailures", failing_since AS "failingSince",
     last_delivery_at AS "lastDeliveryAt", last_failure_at AS "lastFailureAt",
     disabled_at AS "disabledAt", disabled_reason AS "disabledReason", latency_ms AS "latencyMs", lane,
     failure_notified AS "failureNotified", deleted_at IS NOT NULL AS "isDeleted"
   FROM webhook_subscriptions WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED`,
);

interface HealthRow extends SubscriptionHealth {
  readonly now: Date;
  readonly isDeleted: boolean;
}

export interface LockedSubscriptions {
  /** Start of the transaction, by PostgreSQL's clock. */
  readonly now: Date;
  /** Ids of subscriptions that another transaction has locked. */
  readonly lockedByOthers: ReadonlySet<string>;
  /** Subscriptions locked by this transaction, except deleted ones. */
  readonly subscriptions: ReadonlyMap<string, SubscriptionHealth>;
}

/** Locks subscriptions, except those that another transaction has locked. */
export async function lockSubscriptions(
  tx: Transaction,
  ids: readonly string[],
): Promise<LockedSubscriptions> {
  const rows = await tx.rows<HealthRow>(lockHealth, [ids]);
  const locked = new Set(rows.map(({ id }) => id));
  return {
    now: rows[0]?.now ?? new Date(), // unused without rows
    lockedByOthers: new Set(ids.filter((id) => !locked.has(id))),
    subscriptions: new Map(rows.filter((row) => !row.isDeleted).map((row) => [row.id, row])),
  };
}

const changedRows = new RowParameters<SubscriptionHealth>('h', {
  id: ['uuid', (row) => row.id],
  status: ['text', (row) => row.status],
  consecutive_failures: ['int', (row) => row.consecutiveFailures],
  failing_since: ['timestamptz', (row) => row.failingSince],
  last_delivery_at: ['timestamptz', (row) => row.lastDeliveryAt],
  last_failure_at: ['timestamptz', (row) => row.lastFailureAt],
  disabled_at: ['timestamptz', (row) => row.disabledAt],
  disabled_reason: ['text', (row) => row.disabledReason],
  latency_ms: ['float8', (row) => row.latencyMs],
  lane: ['text', (row) => row.lane],
  failure_notified: ['boolean', (row) => row.failureNotified],
});
// `disabling_notified`: whether the owner was warned about this series of failures.
const updateHealth = statement(
  'subscriptions.save-health',
  `UPDATE webhook_subscriptions s SET status = h.status, consecutive_failures = h.consecutive_failures,
     failing_since = h.failing_since, last_delivery_at = h.last_delivery_at, last_failure_at = h.last_failure_at,
     disabled_at = h.disabled_at, disabled_reason = h.disabled_reason, latency_ms = h.latency_ms, lane = h.lane,
     failure_notified = h.failure_notified,
     disabling_notified = s.disabling_notified AND h.failing_since IS NOT DISTINCT FROM s.failing_since
   FROM ${changedRows.table()} WHERE s.id = h.id`,
);

export async function saveHealth(tx: Transaction, changed: readonly SubscriptionHealth[]): Promise<void> {
  if (changed.length > 0) await tx.run(updateHealth, changedRows.values(changed));
}
