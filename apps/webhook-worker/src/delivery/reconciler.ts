import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { advisoryLocks } from '../advisory-locks.js';
import { BulkUpdateRequests } from '../subscriptions/bulk-update-requests.js';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { DispatchQueue } from './dispatch-queue.js';
import type { DueSubscription } from './lane-queue.js';
import { HostSlots } from './host-slots.js';
import { type Lane, lanes } from './lanes.rules.js';
import { expireLeases } from './lease.js';

const pollIntervalMs = 2_000;
const pageSize = 500;
const firstId = '00000000-0000-0000-0000-000000000000';
/**
 * A subscription that has been due for longer than this, without a running attempt, has lost its wake-up. In
 * the slow lane subscriptions wait by design, so the limit is longer.
 */
const wakeUpLostAfterSeconds: Readonly<Record<Lane, number>> = { fast: 4, slow: 60 };

interface OpenSubscription {
  readonly subscription_id: string;
  readonly state: SubscriptionState;
  readonly lane: Lane;
  /** Time since the oldest open delivery became due; negative if none is due yet. */
  readonly due_seconds: number;
  readonly is_dispatching: boolean;
}

const tryAcquireLock = statement(
  'reconciler.try-acquire-lock',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.reconciler}) AS acquired`,
);

// Skips from subscription to subscription in the index of open deliveries: the cost depends on the number of
// subscriptions, not of deliveries.
const nextOpen = `SELECT subscription_id, next_attempt_at FROM webhook_deliveries
  WHERE status IN ('pending', 'retrying') AND subscription_id >`;
const findOpen = statement(
  'reconciler.find-open',
  `WITH RECURSIVE open AS (
     (${nextOpen} $1 ORDER BY subscription_id, next_attempt_at LIMIT 1)
     UNION ALL
     SELECT following.* FROM open CROSS JOIN LATERAL
       (${nextOpen} open.subscription_id ORDER BY subscription_id, next_attempt_at LIMIT 1) AS following
   ), page AS (SELECT * FROM open LIMIT ${pageSize}),
   dispatching AS (
     SELECT DISTINCT subscription_id FROM webhook_deliveries WHERE status = 'in_flight' AND lease_until > now()
   )
   SELECT page.subscription_id, s.lane,
     CASE WHEN s.deleted_at IS NULL THEN s.status ELSE 'deleted' END AS state,
     extract(epoch FROM now() - page.next_attempt_at)::float8 AS due_seconds,
     page.subscription_id IN (SELECT subscription_id FROM dispatching) AS is_dispatching
   FROM page JOIN webhook_subscriptions s ON s.id = page.subscription_id
   ORDER BY page.subscription_id`,
);
/**
 * Finds due deliveries that a crash, a lost wake-up or a flushed Redis left, using PostgreSQL alone. All
 * replicas run the loop; in each round one of them acquires the lock.
 */
@Injectable()
export class Reconciler extends BackgroundLoop {
  private cursor = firstId;
  private oldestDueSeconds: Record<Lane, number> = { fast: 0, slow: 0 };

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly queue: DispatchQueue,
    private readonly bulkUpdates: BulkUpdateRequests,
    private readonly hosts: HostSlots,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({ name: 'webhook-reconciler', intervalMs: pollIntervalMs, logger, round: () => this.round() });
  }

  private async round(): Promise<boolean> {
    const open = await this.database.transaction((tx) => this.repairAndFindOpen(tx));
    if (open === undefined) return false;
    // Disabled ones stay: their manual retries and test events are sent.
    const due = open.filter((row) => row.due_seconds >= 0 && row.state !== 'deleted');
    this.reportLostWakeUps(due);
    this.queue.requeue(due.map(dueSubscription));
    return this.advancePage(open, due);
  }

  /**
   * Under the lock: expires leases, requests state syncs of deliveries in the wrong state, and returns one
   * page of subscriptions. Undefined if another replica has the lock.
   */
  private async repairAndFindOpen(tx: Transaction): Promise<OpenSubscription[] | undefined> {
    const lock = await tx.row<{ acquired: boolean }>(tryAcquireLock);
    if (lock?.acquired !== true) return undefined;
    const expiredLeases = await expireLeases(tx);
    if (expiredLeases > 0) {
      deliveryMetrics.leasesExpired.inc(expiredLeases);
      this.logger.warn(
        { attempts: expiredLeases },
        'Attempts were lost because their process stopped; their deliveries are due again.',
      );
    }
    const open = await tx.rows<OpenSubscription>(findOpen, [this.cursor]);
    // Deliveries that were written while their subscription was disabled or deleted.
    const misplaced = open.filter((row) => row.state !== 'active').map((row) => row.subscription_id);
    await this.bulkUpdates.requestStateSync(tx, misplaced);
    return open;
  }

  private reportLostWakeUps(due: readonly OpenSubscription[]): void {
    // A subscription that waits in another replica is counted too.
    const lost = due.filter(
      (row) =>
        row.due_seconds >= wakeUpLostAfterSeconds[row.lane] &&
        !row.is_dispatching &&
        !this.queue.isWaiting(dueSubscription(row)) &&
        !this.hosts.isWaiting(row.subscription_id),
    );
    if (lost.length === 0) return;
    deliveryMetrics.wakeUpsLost.inc(lost.length);
    this.logger.info(
      { subscriptions: lost.length },
      'Due deliveries were neither in flight nor queued in this process; they are queued again.',
    );
  }

  /** Returns whether there are more pages. */
  private advancePage(open: readonly OpenSubscription[], due: readonly OpenSubscription[]): boolean {
    for (const { state, lane, due_seconds: seconds } of due) {
      if (state === 'active') this.oldestDueSeconds[lane] = Math.max(this.oldestDueSeconds[lane], seconds);
    }
    const last = open.at(-1);
    if (open.length === pageSize && last !== undefined) {
      this.cursor = last.subscription_id;
      return true;
    }
    for (const lane of lanes) deliveryMetrics.oldestDue.set({ lane }, this.oldestDueSeconds[lane]);
    this.oldestDueSeconds = { fast: 0, slow: 0 };
    this.cursor = firstId;
    return false;
  }
}

function dueSubscription(row: OpenSubscription): DueSubscription {
  return { subscriptionId: row.subscription_id, lane: row.lane };
}
