import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { advisoryLocks } from '../advisory-locks.js';
import { MoveDeliveries } from '../moves/move-deliveries.js';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { DirectDrains } from './direct-drains.js';
import { HostSlots } from './host-slots.js';
import { type Lane, lanes } from './lanes.rules.js';
import { expireLeases } from './lease.js';
import { type DueSubscription, WakeUps } from './wake-ups.js';

const everyMs = 2_000;
const pageSize = 500;
const firstId = '00000000-0000-0000-0000-000000000000';
/**
 * A subscription that was due for longer with no process at work has lost its wake-up: BullMQ never got it, or did nothing. In the slow lane subscriptions wait
 * for their turn by design, so the limit is longer.
 */
const lostAfterSeconds: Readonly<Record<Lane, number>> = { fast: 4, slow: 60 };
/** In one round: the drains that start here without a job are needed for the fast lane. */
const maxRecoveredOfSlowLane = 10;

interface Open {
  readonly subscription_id: string;
  readonly state: SubscriptionState;
  readonly lane: Lane;
  /** How long the oldest open delivery has been due; negative when none is. */
  readonly due_seconds: number;
  readonly being_drained: boolean;
}

const takeTurn = statement(
  'reconciler.take-turn',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.reconciler}) AS mine`,
);

// Jumps from subscription to subscription in the index of open deliveries: the cost is the number of subscriptions, not of deliveries.
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
   at_work AS (
     SELECT DISTINCT subscription_id FROM webhook_deliveries WHERE status = 'in_flight' AND lease_until > now()
   )
   SELECT page.subscription_id, s.lane,
     CASE WHEN s.deleted_at IS NULL THEN s.status ELSE 'deleted' END AS state,
     extract(epoch FROM now() - page.next_attempt_at)::float8 AS due_seconds,
     page.subscription_id IN (SELECT subscription_id FROM at_work) AS being_drained
   FROM page JOIN webhook_subscriptions s ON s.id = page.subscription_id
   ORDER BY page.subscription_id`,
);
/**
 * Finds again whatever a crash, a lost wake-up or a flushed Redis left behind, by looking at PostgreSQL alone. All replicas run it;
 * each round one of them has the turn.
 */
@Injectable()
export class Reconciler {
  private readonly loop: BackgroundLoop;
  private after = firstId;
  private oldestDueSeconds: Record<Lane, number> = { fast: 0, slow: 0 };

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly wakeUps: WakeUps,
    private readonly moves: MoveDeliveries,
    private readonly directDrains: DirectDrains,
    private readonly hosts: HostSlots,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loop = new BackgroundLoop({
      name: 'webhook-reconciler',
      intervalMs: everyMs,
      logger,
      round: () => this.round(),
    });
  }

  start(): void {
    this.loop.start();
  }

  /** Has it look now. */
  wake(): void {
    this.loop.wake();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async round(): Promise<boolean> {
    const open = await this.database.transaction((tx) => this.look(tx));
    if (open === undefined) return false;
    const due = open.filter((row) => row.due_seconds >= 0 && row.state !== 'deleted');
    const lost = new Set(this.withLostWakeUp(due));
    this.wakeUps.enqueue(due.filter((row) => !lost.has(row)).map(dueSubscription));
    this.recover([...lost]);
    return this.turnPage(open, due);
  }

  private withLostWakeUp(due: readonly Open[]): Open[] {
    const lost = due.filter(
      (row) =>
        row.due_seconds >= lostAfterSeconds[row.lane] &&
        !row.being_drained &&
        !this.hosts.isWaiting(row.subscription_id),
    );
    const slow = lost.filter(({ lane }) => lane === 'slow').slice(0, maxRecoveredOfSlowLane);
    return [...lost.filter(({ lane }) => lane === 'fast'), ...slow];
  }

  private async look(tx: Transaction): Promise<Open[] | undefined> {
    const turn = await tx.row<{ mine: boolean }>(takeTurn);
    if (turn?.mine !== true) return undefined;
    const lost = await expireLeases(tx);
    if (lost > 0) {
      deliveryMetrics.leasesExpired.inc(lost);
      this.logger.warn(
        { attempts: lost },
        'Attempts were lost with their process; their deliveries are due again.',
      );
    }
    const open = await tx.rows<Open>(findOpen, [this.after]);
    // Deliveries that were written while their subscription was disabled or deleted.
    const misplaced = open.filter((row) => row.state !== 'active').map((row) => row.subscription_id);
    await this.moves.align(tx, misplaced);
    return open;
  }

  private recover(lost: readonly Open[]): void {
    if (lost.length === 0) return;
    deliveryMetrics.recovered.inc(lost.length);
    this.logger.info(
      { subscriptions: lost.length },
      'Deliveries were due with no process at work; draining them here.',
    );
    this.directDrains.start(lost.map(dueSubscription));
  }

  /** Answers whether there are more pages. */
  private turnPage(open: readonly Open[], due: readonly Open[]): boolean {
    for (const { state, lane, due_seconds: seconds } of due) {
      if (state === 'active') this.oldestDueSeconds[lane] = Math.max(this.oldestDueSeconds[lane], seconds);
    }
    const last = open.at(-1);
    if (open.length === pageSize && last !== undefined) {
      this.after = last.subscription_id;
      return true;
    }
    for (const lane of lanes) deliveryMetrics.oldestDue.set({ lane }, this.oldestDueSeconds[lane]);
    this.oldestDueSeconds = { fast: 0, slow: 0 };
    this.after = firstId;
    return false;
  }
}

function dueSubscription(row: Open): DueSubscription {
  return { subscriptionId: row.subscription_id, lane: row.lane };
}
