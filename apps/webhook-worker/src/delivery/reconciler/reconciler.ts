import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER, PollLimit } from '@fulfilment/runtime';
import { Shards } from '@fulfilment/service-host/shards';
import { Inject, Injectable } from '@nestjs/common';
import { BulkUpdateRequests } from '../../subscriptions/bulk-update-requests.js';
import type { SubscriptionState } from '../../subscriptions/subscription.rules.js';
import { deliveryMetrics } from '../delivery-metrics.js';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import type { DueSubscription } from '../../dispatch-queue/lane-queue.js';
import { HostSlots } from '../concurrency/host-slots.js';
import { type Lane, lanes } from '../../dispatch-queue/lanes.rules.js';
import { expireLeases } from './expire-leases.js';
import { type IdRange, rangesOfShards } from './scan-ranges.rules.js';

const pollIntervalMs = 2_000;
const pageSize = 500;
/**
 * A subscription that has been due for longer than this has lost its wake-up, unless it has a running attempt
 * or waits in this process. In the slow lane subscriptions wait by design, so the limit is longer.
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

// ANALYZE stores up to 101 ids that divide the subscriptions into equal parts. Before the first ANALYZE there
// is no row.
const readBounds = statement(
  'reconciler.read-bounds',
  `SELECT histogram_bounds::text::uuid[] AS ids FROM pg_stats
   WHERE schemaname = current_schema() AND tablename = 'webhook_subscriptions' AND attname = 'id'
     AND histogram_bounds IS NOT NULL`,
);

// Skips from subscription to subscription in the index of open deliveries: the cost depends on the number of
// subscriptions, not of deliveries.
const selectNextOpen = (after: string): string =>
  `SELECT subscription_id, next_attempt_at FROM webhook_deliveries
   WHERE status IN ('pending', 'retrying') AND subscription_id > ${after} AND subscription_id <= $2
   ORDER BY subscription_id, next_attempt_at LIMIT 1`;
const findOpen = statement(
  'reconciler.find-open',
  `WITH RECURSIVE open AS (
     (${selectNextOpen('$1')})
     UNION ALL
     SELECT following.* FROM open CROSS JOIN LATERAL
       (${selectNextOpen('open.subscription_id')}) AS following
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
 * Finds due deliveries without a wake-up, after a crash or a loss of keys in Redis, by PostgreSQL alone. Each
 * replica scans the subscriptions of its shards. If two replicas scan a subscription, both queue it, but only
 * one can claim a delivery.
 */
@Injectable()
export class Reconciler extends BackgroundLoop {
  private readonly pollLimit = new PollLimit();
  /** The ranges that remain of the current scan. */
  private ranges: readonly IdRange[] = [];
  private oldestDueSeconds: Record<Lane, number> = { fast: 0, slow: 0 };

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(DispatchQueue) private readonly queue: Pick<DispatchQueue, 'isWaiting' | 'requeue'>,
    @Inject(BulkUpdateRequests) private readonly bulkUpdates: Pick<BulkUpdateRequests, 'requestStateSync'>,
    @Inject(HostSlots) private readonly hosts: Pick<HostSlots, 'isWaiting'>,
    @Inject(Shards) private readonly shards: Pick<Shards, 'onTaken' | 'owned'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({ name: 'webhook-reconciler', intervalMs: pollIntervalMs, logger, round: () => this.round() });
    shards.onTaken(() => this.wake());
  }

  /** Reads a page of the scan. Returns whether there are more pages. */
  private async round(): Promise<boolean> {
    if (this.ranges.length === 0) {
      if (this.pollLimit.isPaused) return false;
      this.ranges = await this.ownRanges();
    }
    const [range, ...rest] = this.ranges;
    if (range === undefined) {
      this.endScan();
      return false;
    }
    const open = await this.pollLimit.run(async () => {
      await this.expireLeases();
      return this.database.transaction((tx) => this.findOpenAndRequestSyncs(tx, range));
    });
    // Includes disabled subscriptions, since their manual retries and test events are sent.
    const due = open.filter((row) => row.due_seconds >= 0 && row.state !== 'deleted');
    this.reportLostWakeUps(due);
    this.queue.requeue(due.map(dueSubscription));
    this.recordOldest(due);
    const last = open.at(-1);
    const isFull = open.length === pageSize && last !== undefined;
    this.ranges = isFull ? [{ ...range, after: last.subscription_id }, ...rest] : rest;
    const hasMore = this.ranges.length > 0;
    if (!hasMore) this.endScan();
    return hasMore;
  }

  private async ownRanges(): Promise<IdRange[]> {
    const { owned } = this.shards;
    if (owned.length === 0) return [];
    const bounds = await this.database.row<{ ids: string[] }>(readBounds);
    return rangesOfShards(owned, bounds?.ids ?? []);
  }

  /** Not part of the scan's transaction: a scan that fails must not undo it. */
  private async expireLeases(): Promise<void> {
    const attempts = await expireLeases(this.database);
    if (attempts === 0) return;
    deliveryMetrics.leasesExpired.inc(attempts);
    this.logger.warn(
      { attempts },
      'Attempts were lost: their process stopped, or could not store their results in time. Their deliveries are due again.',
    );
  }

  /** Requests state syncs of deliveries in the wrong state. Returns one page of subscriptions. */
  private async findOpenAndRequestSyncs(
    tx: Transaction,
    { after, upTo }: IdRange,
  ): Promise<readonly OpenSubscription[]> {
    const open = await tx.rows<OpenSubscription>(findOpen, [after, upTo]);
    // Deliveries may have been written after their subscription was disabled or deleted.
    const inactive = open.filter((row) => row.state !== 'active').map((row) => row.subscription_id);
    await this.bulkUpdates.requestStateSync(tx, inactive);
    return open;
  }

  private reportLostWakeUps(due: readonly OpenSubscription[]): void {
    // Some of them may wait in another replica, which this process cannot know.
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

  private recordOldest(due: readonly OpenSubscription[]): void {
    for (const { state, lane, due_seconds: seconds } of due) {
      if (state === 'active') this.oldestDueSeconds[lane] = Math.max(this.oldestDueSeconds[lane], seconds);
    }
  }

  private endScan(): void {
    for (const lane of lanes) deliveryMetrics.oldestDue.set({ lane }, this.oldestDueSeconds[lane]);
    this.oldestDueSeconds = { fast: 0, slow: 0 };
  }
}

function dueSubscription(row: OpenSubscription): DueSubscription {
  return { subscriptionId: row.subscription_id, lane: row.lane };
}
