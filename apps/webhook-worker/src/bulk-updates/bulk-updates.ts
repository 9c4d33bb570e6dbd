import {
  BACKGROUND_DATABASE,
  Database,
  type Statement,
  statement,
  type Transaction,
} from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { allShards, Shards, shardSql } from '@fulfilment/service-host/shards';
import { Inject, Injectable } from '@nestjs/common';
import { advisoryLocks } from '../advisory-locks.js';
import type { Lane } from '../dispatch-queue/lanes.rules.js';
import { DispatchQueue } from '../dispatch-queue/dispatch-queue.js';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';
import { applySubscriptionState, type DueItem, expireBatch, isBusy, recoverBatch } from './batches.js';
import { BulkUpdateRequests } from '../subscriptions/bulk-update-requests.js';

const pollIntervalMs = 1_000;
/** Delays before a state sync or recovery continues. Those that have been due for longest are first. */
const delaySeconds = { afterBatch: 0, busy: 1, failed: 5, disabled: 30 } as const;

/** Number of due state syncs or recoveries that a replica reads at once and then processes one by one. */
const pageSize = 100;

// One replica at a time processes a subscription.
const tryLockBulkUpdates = statement(
  'bulk-updates.try-lock',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.bulkUpdates}, hashtext($1)) AS locked`,
);
const tryLockExpiry = statement(
  'bulk-updates.try-lock-expiry',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.expiry}) AS locked`,
);
const findDueStateSyncs = statement(
  'bulk-updates.due-state-syncs',
  `SELECT subscription_id AS id, subscription_id FROM webhook_state_syncs
   WHERE due_at <= now() AND ${shardSql('subscription_id')} = ANY($1::int[]) ORDER BY due_at LIMIT ${pageSize}`,
);
const lockStateSync = statement(
  'bulk-updates.lock-state-sync',
  'SELECT FROM webhook_state_syncs WHERE subscription_id = $1 AND due_at <= now() FOR UPDATE',
);
const endStateSync = statement(
  'bulk-updates.end-state-sync',
  'DELETE FROM webhook_state_syncs WHERE subscription_id = $1',
);
const delayStateSync = statement(
  'bulk-updates.delay-state-sync',
  "UPDATE webhook_state_syncs SET due_at = now() + $2 * interval '1 second' WHERE subscription_id = $1",
);
const findDueRecoveries = statement(
  'bulk-updates.due-recoveries',
  `SELECT id, subscription_id FROM webhook_recoveries
   WHERE due_at <= now() AND ${shardSql('subscription_id')} = ANY($1::int[]) ORDER BY due_at LIMIT ${pageSize}`,
);
const isRecoveryDue = statement(
  'bulk-updates.is-recovery-due',
  'SELECT FROM webhook_recoveries WHERE id = $1 AND due_at <= now()',
);
const endRecovery = statement('bulk-updates.end-recovery', 'DELETE FROM webhook_recoveries WHERE id = $1');
const delayRecovery = statement(
  'bulk-updates.delay-recovery',
  "UPDATE webhook_recoveries SET due_at = now() + $2 * interval '1 second' WHERE id = $1",
);
// Serialises a batch with a PATCH of the subscription. Attempts can be settled concurrently.
const lockSubscription = statement(
  'bulk-updates.lock-subscription',
  `SELECT CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END AS state, lane
   FROM webhook_subscriptions WHERE id = $1 FOR KEY SHARE`,
);

/** A kind of work: state syncs or recoveries. */
interface Work {
  readonly findDue: Statement;
  /** Makes an item due later. */
  readonly delay: Statement;
  /** Returns false if the item is no longer due. */
  readonly handle: (tx: Transaction, item: DueItem) => Promise<boolean>;
}

interface TriedLock {
  readonly locked: boolean;
}

interface LockedSubscription {
  readonly state: SubscriptionState;
  readonly lane: Lane;
}

/**
 * Updates many deliveries of a subscription: holds them when it is disabled, releases them when it is
 * enabled, cancels them when it is deleted, recovers them on request, and expires held ones that are too old
 * or too many. Pending work is stored in PostgreSQL and done in batches, each in its own transaction, so that
 * requests and settlements do not wait for it. Released and recovered deliveries become due as fast as the
 * receiver takes them. A replica works on the subscriptions of its shards first, then on those of others; one
 * replica at a time works on a subscription.
 */
@Injectable()
export class BulkUpdates extends BackgroundLoop {
  private readonly stateSyncs: Work = {
    findDue: findDueStateSyncs,
    delay: delayStateSync,
    handle: (tx, item) => this.syncSubscription(tx, item),
  };
  private readonly recoveries: Work = {
    findDue: findDueRecoveries,
    delay: delayRecovery,
    handle: (tx, item) => this.recover(tx, item),
  };
  private stopping = false;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly queue: DispatchQueue,
    private readonly shards: Shards,
    requests: BulkUpdateRequests,
    @Inject(LOGGER) logger: Logger,
  ) {
    super({ name: 'webhook-bulk-updates', intervalMs: pollIntervalMs, logger, round: () => this.round() });
    requests.onRequested(() => this.wake());
  }

  override stop(): Promise<void> {
    this.stopping = true;
    return super.stop();
  }

  private async round(): Promise<boolean> {
    const errors: unknown[] = [];
    let hasMore = false;
    const steps = [
      () => this.processDue(this.stateSyncs),
      () => this.processDue(this.recoveries),
      () => this.expire(),
    ];
    for (const step of steps) {
      try {
        hasMore = (await step()) || hasMore;
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0]; // after the other steps; the loop logs one error per round
    return hasMore;
  }

  /**
   * Processes due items, each in its own transaction. Skips subscriptions that another replica works on, and
   * items that another replica has finished since they were read. Returns whether there may be more.
   */
  private async processDue({ findDue, delay, handle }: Work): Promise<boolean> {
    let hasMore = false;
    const errors: unknown[] = [];
    const own = await this.database.rows<DueItem>(findDue, [this.shards.owned]);
    const items = own.length > 0 ? own : await this.database.rows<DueItem>(findDue, [allShards]);
    for (const item of items) {
      if (this.stopping) break;
      try {
        const wasProcessed = await this.database.transaction(async (tx) => {
          const tried = await tx.row<TriedLock>(tryLockBulkUpdates, [item.subscription_id]);
          return tried?.locked === true && handle(tx, item);
        });
        hasMore ||= wasProcessed;
      } catch (error) {
        errors.push(error);
        // It must not block the items behind it. Without a database, it remains due.
        await this.database.run(delay, [item.id, delaySeconds.failed]).catch(() => undefined);
      }
    }
    if (errors.length > 0) throw errors[0]; // after the other items
    return hasMore;
  }

  private expire(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const tried = await tx.row<TriedLock>(tryLockExpiry);
      return tried?.locked === true && expireBatch(tx);
    });
  }

  private async syncSubscription(tx: Transaction, { id }: DueItem): Promise<boolean> {
    await tx.row<LockedSubscription>(lockSubscription, [id]); // before the sync, as in a PATCH: no deadlock
    // A transaction that requests another sync from now on waits for this row lock.
    if ((await tx.row(lockStateSync, [id])) === undefined) return false;
    // Reads the state once more: lockStateSync may have waited for a transaction that changed it and
    // requested this sync.
    const subscription = await tx.row<LockedSubscription>(lockSubscription, [id]);
    if (subscription?.state === 'active' && (await isBusy(tx, id))) {
      await tx.run(delayStateSync, [id, delaySeconds.busy]);
      return true;
    }
    const hasMore = subscription !== undefined && (await applySubscriptionState(tx, id, subscription.state));
    if (hasMore) await tx.run(delayStateSync, [id, delaySeconds.afterBatch]);
    else await tx.run(endStateSync, [id]);
    if (subscription?.state === 'active')
      this.queue.scheduleAfterCommit(tx, [{ subscriptionId: id, lane: subscription.lane }]);
    return true;
  }

  private async recover(tx: Transaction, recovery: DueItem): Promise<boolean> {
    if ((await tx.row(isRecoveryDue, [recovery.id])) === undefined) return false;
    const subscription = await tx.row<LockedSubscription>(lockSubscription, [recovery.subscription_id]);
    if (subscription === undefined || subscription.state === 'deleted') {
      await tx.run(endRecovery, [recovery.id]);
    } else if (subscription.state === 'disabled') {
      await tx.run(delayRecovery, [recovery.id, delaySeconds.disabled]);
    } else if (await isBusy(tx, recovery.subscription_id)) {
      await tx.run(delayRecovery, [recovery.id, delaySeconds.busy]);
    } else if (await recoverBatch(tx, recovery)) {
      await tx.run(delayRecovery, [recovery.id, delaySeconds.afterBatch]);
      this.queue.scheduleAfterCommit(tx, [
        { subscriptionId: recovery.subscription_id, lane: subscription.lane },
      ]);
    } else {
      await tx.run(endRecovery, [recovery.id]);
    }
    return true;
  }
}
