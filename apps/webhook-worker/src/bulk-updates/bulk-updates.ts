import {
  BACKGROUND_DATABASE,
  Database,
  type Statement,
  statement,
  type Transaction,
} from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { advisoryLocks } from '../advisory-locks.js';
import type { Lane } from '../delivery/lanes.rules.js';
import { WakeUps } from '../delivery/wake-ups.js';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';
import { alignBatch, expireBatch, isBusy, type OpenRecovery, recoverBatch } from './batches.js';
import { requestAlignment } from './request-alignment.js';

const everyMs = 1_000;
const askAgainSeconds = { busy: 1, disabled: 30 } as const;

/** Read at once by a replica, which then claims them one by one. */
const pageSize = 100;

// One replica works on a subscription at a time, by the second lock. The first is held alone by replicas of before, for all subscriptions.
const claimSubscription = statement(
  'moves.claim-subscription',
  `SELECT pg_try_advisory_xact_lock_shared(${advisoryLocks.moves})
     AND pg_try_advisory_xact_lock(${advisoryLocks.moves}, hashtext($1)) AS claimed`,
);
const claimExpiry = statement(
  'moves.claim-expiry',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.expiry}) AS claimed`,
);
const dueAlignments = statement(
  'moves.due-alignments',
  `SELECT subscription_id FROM webhook_alignments WHERE due_at <= now() ORDER BY due_at LIMIT ${pageSize}`,
);
const lockAlignment = statement(
  'moves.lock-alignment',
  'SELECT FROM webhook_alignments WHERE subscription_id = $1 AND due_at <= now() FOR UPDATE',
);
const endAlignment = statement(
  'moves.end-alignment',
  'DELETE FROM webhook_alignments WHERE subscription_id = $1',
);
const delayAlignment = statement(
  'moves.delay-alignment',
  "UPDATE webhook_alignments SET due_at = now() + $2 * interval '1 second' WHERE subscription_id = $1",
);
const dueRecoveries = statement(
  'moves.due-recoveries',
  `SELECT id, subscription_id FROM webhook_recoveries WHERE due_at <= now() ORDER BY due_at LIMIT ${pageSize}`,
);
const isRecoveryDue = statement(
  'moves.is-recovery-due',
  'SELECT FROM webhook_recoveries WHERE id = $1 AND due_at <= now()',
);
const endRecovery = statement('moves.end-recovery', 'DELETE FROM webhook_recoveries WHERE id = $1');
const delayRecovery = statement(
  'moves.delay-recovery',
  "UPDATE webhook_recoveries SET due_at = now() + $2 * interval '1 second' WHERE id = $1",
);
// A PATCH waits for the time of one batch, so that it comes before or after; attempts are settled meanwhile.
const lockSubscription = statement(
  'moves.lock-subscription',
  `SELECT CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END AS state, lane
   FROM webhook_subscriptions WHERE id = $1 FOR KEY SHARE`,
);

interface Due {
  readonly subscription_id: string;
}

interface Claim {
  readonly claimed: boolean;
}

interface Locked {
  readonly state: SubscriptionState;
  readonly lane: Lane;
}

/**
 * Moves many deliveries at once: held when their subscription is disabled, released when it is enabled, cancelled when it is deleted,
 * set going by a recovery, given up when they were held too long. What is left to do stands in PostgreSQL, and is done a batch at a time,
 * each in a transaction of its own: no number of deliveries makes a request or a settlement wait. What is released or recovered comes
 * as the receiver takes it. All replicas run it; one of them at a time works on a subscription.
 */
@Injectable()
export class MoveDeliveries {
  private readonly loop: BackgroundLoop;
  private stopping = false;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly wakeUps: WakeUps,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.loop = new BackgroundLoop({
      name: 'webhook-moves',
      intervalMs: everyMs,
      logger,
      round: () => this.round(),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    this.stopping = true;
    return this.loop.stop();
  }

  /** To be called in the transaction that changes the subscriptions' state, or that leaves deliveries where it says they do not belong. */
  async align(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
    if (subscriptionIds.length === 0) return;
    await requestAlignment(tx, subscriptionIds);
    this.wakeAfter(tx);
  }

  /** To be called in the transaction that writes down what is to be done: a recovery, or a request of alignment. */
  wakeAfter(tx: Transaction): void {
    tx.afterCommit(() => this.loop.wake());
  }

  private async round(): Promise<boolean> {
    const more = [
      await this.workOn<Due>(dueAlignments, (tx, due) => this.alignSubscription(tx, due)),
      await this.workOn<OpenRecovery>(dueRecoveries, (tx, recovery) => this.recover(tx, recovery)),
      await this.expire(),
    ];
    return more.includes(true);
  }

  /**
   * Works on what is due, each subscription in a transaction of its own, but for those that another replica works on. Another may also have
   * finished one since it was read. Returns whether there may be more.
   */
  private async workOn<Item extends Due>(
    page: Statement,
    work: (tx: Transaction, item: Item) => Promise<boolean>,
  ): Promise<boolean> {
    let worked = false;
    const errors: unknown[] = [];
    for (const item of await this.database.rows<Item>(page)) {
      if (this.stopping) break;
      const done = this.database.transaction(async (tx) => {
        const claim = await tx.row<Claim>(claimSubscription, [item.subscription_id]);
        return claim?.claimed === true && work(tx, item);
      });
      await done.then(
        (result) => (worked ||= result),
        (error: unknown) => errors.push(error),
      );
    }
    if (errors.length > 0) throw errors[0]; // after the others, which it does not hold up
    return worked;
  }

  private expire(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const claim = await tx.row<Claim>(claimExpiry);
      return claim?.claimed === true && expireBatch(tx);
    });
  }

  private async alignSubscription(tx: Transaction, { subscription_id: id }: Due): Promise<boolean> {
    await tx.row<Locked>(lockSubscription, [id]); // first, in the order in which a PATCH locks
    // A request from here on is for another alignment.
    if ((await tx.row(lockAlignment, [id])) === undefined) return false;
    // Read once more: the request of this one may have changed the subscription while this waited for it.
    const subscription = await tx.row<Locked>(lockSubscription, [id]);
    if (subscription?.state === 'active' && (await isBusy(tx, id))) {
      await tx.run(delayAlignment, [id, askAgainSeconds.busy]);
      return true;
    }
    const more = subscription !== undefined && (await alignBatch(tx, id, subscription.state));
    if (more) await tx.run(delayAlignment, [id, 0]);
    else await tx.run(endAlignment, [id]);
    if (subscription?.state === 'active') this.wakeFor(tx, id, subscription.lane);
    return true;
  }

  private async recover(tx: Transaction, next: OpenRecovery): Promise<boolean> {
    if ((await tx.row(isRecoveryDue, [next.id])) === undefined) return false;
    const subscription = await tx.row<Locked>(lockSubscription, [next.subscription_id]);
    if (subscription === undefined || subscription.state === 'deleted') {
      await tx.run(endRecovery, [next.id]);
    } else if (subscription.state === 'disabled') {
      await tx.run(delayRecovery, [next.id, askAgainSeconds.disabled]);
    } else if (await isBusy(tx, next.subscription_id)) {
      await tx.run(delayRecovery, [next.id, askAgainSeconds.busy]);
    } else if (await recoverBatch(tx, next)) {
      await tx.run(delayRecovery, [next.id, 0]);
      this.wakeFor(tx, next.subscription_id, subscription.lane);
    } else {
      await tx.run(endRecovery, [next.id]);
    }
    return true;
  }

  private wakeFor(tx: Transaction, subscriptionId: string, lane: Lane): void {
    tx.afterCommit(() => this.wakeUps.wake([{ subscriptionId, lane }]));
  }
}
