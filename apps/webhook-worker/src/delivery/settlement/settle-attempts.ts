import { publicId } from '@fulfilment/contracts';
import { Database, RowParameters, statement, type Transaction } from '@fulfilment/database';
import type { Exchange } from '@fulfilment/guarded-fetch';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../../config.js';
import { BulkUpdateRequests } from '../../subscriptions/bulk-update-requests.js';
import { mergeSpans, singleDay } from '../../dispatch-queue/day-span.rules.js';
import { deliveryMetrics } from '../delivery-metrics.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { healthAfterAttempts, type AttemptResult } from '../health/health.rules.js';
import { historyHeaders, type NextState, nextState } from './settlement.rules.js';
import { lockSubscriptions, saveHealth, type SubscriptionHealth } from '../health/subscription-health.js';
import {
  type DisabledSubscription,
  type FailingSubscription,
  NotifyOwners,
} from '../health/notify-owners.js';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import type { DueSubscription } from '../../dispatch-queue/lane-queue.js';

/** A finished attempt. */
export interface Attempt {
  readonly delivery: LeasedDelivery;
  readonly exchange: Exchange;
}

interface DecidedAttempt extends Attempt {
  readonly next: NextState;
}

// `restore_prior`: a failed manual retry restores the state before it, from the columns `prior_…`
// (settlement.rules.ts). A receiver that did not respond has no headers and no body.
const results = new RowParameters<DecidedAttempt>('r', {
  day: ['date', ({ delivery }) => delivery.day],
  id: ['uuid', ({ delivery }) => delivery.id],
  token: ['uuid', ({ delivery }) => delivery.token],
  attempt_trigger: ['text', ({ delivery }) => delivery.trigger],
  status: ['text', ({ next }) => next.status],
  failure_reason: ['text', ({ next }) => next.failureReason],
  delay_ms: ['bigint', ({ next }) => next.delayMs],
  schedule_step: ['int', ({ next }) => next.scheduleStep],
  restore_prior: ['boolean', ({ next }) => next.restorePrior],
  outcome: ['text', ({ exchange }) => exchange.outcome],
  status_code: ['int', ({ exchange }) => exchange.statusCode],
  duration_ms: ['int', ({ exchange }) => exchange.durationMs],
  headers: [
    'jsonb',
    ({ exchange }) =>
      exchange.statusCode === undefined ? null : JSON.stringify(historyHeaders(exchange.headers)),
  ],
  body: ['bytea', ({ exchange }) => (exchange.statusCode === undefined ? null : exchange.body)],
  truncated: ['boolean', ({ exchange }) => exchange.statusCode !== undefined && exchange.truncated],
});
// Settles only deliveries that are still leased under the same token: a worker that is too late changes
// nothing. The first and last day are for partition pruning, as in claim-deliveries.ts. The array of ids
// makes PostgreSQL use the index of ids; otherwise a plan from a time when the partitions were nearly empty
// would read a whole day. `completed_at` is the time of the update, not of the start of the transaction
// (now()): a recovery that was requested in between did not count the failure, and must exclude it.
const settle = statement(
  'deliveries.settle',
  `WITH result AS (SELECT * FROM ${results.table()}), settled AS (
     UPDATE webhook_deliveries d SET
       status = r.status, schedule_step = r.schedule_step,
       failure_reason = CASE WHEN r.restore_prior THEN d.prior_failure_reason ELSE r.failure_reason END,
       next_attempt_at = CASE WHEN r.restore_prior THEN d.prior_next_attempt_at
                              WHEN r.status = 'retrying' THEN now() + r.delay_ms * interval '1 millisecond' END,
       completed_at = CASE WHEN r.restore_prior THEN d.prior_completed_at
                           WHEN r.status IN ('succeeded', 'failed') THEN clock_timestamp() END,
       trigger = CASE WHEN d.test THEN 'test' WHEN r.restore_prior THEN d.prior_trigger ELSE 'auto' END,
       last_status_code = r.status_code, lease_token = NULL, lease_until = NULL, prior_status = NULL, prior_failure_reason = NULL,
       prior_trigger = NULL, prior_next_attempt_at = NULL, prior_completed_at = NULL
     FROM result r
     WHERE d.day = r.day AND d.id = r.id AND d.lease_token = r.token
       AND d.id = ANY(:r_id::uuid[]) AND d.day BETWEEN :first_day AND :last_day
     RETURNING d.day, d.id, d.attempt_count, r.attempt_trigger, d.attempt_started_at, r.duration_ms, r.outcome, r.status_code,
       r.headers, r.body, r.truncated
   )
   INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, duration_ms, outcome, status_code,
     response_headers, response_body, response_truncated)
   SELECT day, id, attempt_count, attempt_trigger, attempt_started_at, duration_ms, outcome, status_code,
     headers, body, truncated FROM settled
   ON CONFLICT DO NOTHING
   RETURNING delivery_id`,
);

/** The health of a subscription before and after attempts that count for its receiver. */
interface HealthChange {
  readonly before: SubscriptionHealth;
  readonly after: SubscriptionHealth;
}

/** Writes the results of attempts in one commit: deliveries, attempts and the health of subscriptions. */
@Injectable()
export class SettleAttempts {
  constructor(
    @Inject(DELIVERY_DATABASE) private readonly database: Database,
    private readonly queue: DispatchQueue,
    private readonly bulkUpdates: BulkUpdateRequests,
    private readonly owners: NotifyOwners,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Writes the results of attempts, except for subscriptions that other transactions have locked.
   * @returns the ids of the locked subscriptions
   */
  async run(attempts: readonly Attempt[]): Promise<ReadonlySet<string>> {
    return this.database.transaction(async (tx) => {
      const { now, lockedByOthers, subscriptions } = await lockSubscriptions(tx, subscriptionIds(attempts));
      const decided = attempts
        .filter(({ delivery }) => !lockedByOthers.has(delivery.subscriptionId))
        .map((attempt) => this.decide(attempt, subscriptions, now));
      if (decided.length === 0) return lockedByOthers;
      const settled = await writeSettled(tx, decided);
      const changes = this.healthChanges(settled, subscriptions, now);
      const changed = changes.map(({ after }) => after);
      const healthById = new Map([...subscriptions.values(), ...changed].map((row) => [row.id, row]));
      // Attempts change a status only from active to disabled (health.rules.ts).
      const disabled = changed.filter(({ id, status }) => status !== subscriptions.get(id)?.status);
      const toSync = [...disabled.map(({ id }) => id), ...activeWithHeld(settled, healthById)];
      await this.bulkUpdates.requestStateSync(tx, toSync);
      const failing = changes.filter(mustNotifyOfFailure).map(({ after }) => after);
      await this.owners.notifyDegraded(tx, 'delivery_failed', failing.filter(isFailing), now);
      await this.owners.notifyDisabled(tx, disabled.filter(isDisabledAutomatically), now);
      tx.afterCommit(() => this.reportDisabled(disabled));
      this.queue.scheduleAfterCommit(tx, retriesOf(settled, healthById));
      tx.awaitAtCommit(saveHealth(tx, changed));
      return lockedByOthers;
    });
  }

  private decide(
    attempt: Attempt,
    subscriptions: ReadonlyMap<string, SubscriptionHealth>,
    now: Date,
  ): DecidedAttempt {
    const subscription = subscriptions.get(attempt.delivery.subscriptionId);
    const scheduleMs = this.config.WEBHOOK_RETRY_SCHEDULE_MS;
    const next = nextState(attempt.delivery, attempt.exchange, {
      subscription: subscription?.status ?? 'deleted', // the map has no deleted ones
      isSameUrl: subscription?.url === attempt.delivery.url,
      scheduleMs,
      chance: Math.random(),
      now,
    });
    return { ...attempt, next };
  }

  /** Returns the changes of the subscriptions with at least one result that counts for their receiver. */
  private healthChanges(
    settled: readonly DecidedAttempt[],
    subscriptions: ReadonlyMap<string, SubscriptionHealth>,
    now: Date,
  ): HealthChange[] {
    const limits = {
      failures: this.config.WEBHOOK_DISABLE_FAILURES,
      afterMs: this.config.WEBHOOK_DISABLE_AFTER_MS,
    };
    const attempts = Map.groupBy(settled, ({ delivery }) => delivery.subscriptionId);
    return [...subscriptions.values()].flatMap((before) => {
      const counted = (attempts.get(before.id) ?? []).filter((attempt) => countsForReceiver(attempt, before));
      if (counted.length === 0) return [];
      return [{ before, after: healthAfterAttempts(before, counted.map(attemptResult), now, limits) }];
    });
  }

  private reportDisabled(disabled: readonly SubscriptionHealth[]): void {
    for (const { id, disabledReason: reason } of disabled) {
      deliveryMetrics.disabled.inc({ reason: String(reason) });
      this.logger.warn(
        { subscription_id: publicId('whk', id), reason },
        'A webhook subscription was disabled.',
      );
    }
  }
}

/**
 * Whether an attempt says something about the receiver. Test events, failures on our side, and attempts at a
 * URL that was replaced during the attempt do not.
 */
function countsForReceiver({ delivery, exchange }: Attempt, { url }: SubscriptionHealth): boolean {
  return delivery.url === url && !delivery.test && !exchange.isLocalFailure;
}

/**
 * Returns the ids of active subscriptions with deliveries that a failed manual retry has restored to `held`:
 * the subscription was enabled during the attempt, so they must be released.
 */
function activeWithHeld(
  settled: readonly DecidedAttempt[],
  subscriptions: ReadonlyMap<string, SubscriptionHealth>,
): string[] {
  const held = settled.filter(({ next }) => next.status === 'held');
  return subscriptionIds(held).filter((id) => subscriptions.get(id)?.status === 'active');
}

function retriesOf(
  settled: readonly DecidedAttempt[],
  subscriptions: ReadonlyMap<string, SubscriptionHealth>,
): DueSubscription[] {
  return settled.flatMap(({ delivery: { subscriptionId, day, traceparent }, next: { delayMs } }) => {
    const subscription = subscriptions.get(subscriptionId);
    if (subscription === undefined || delayMs === null) return [];
    return [{ subscriptionId, lane: subscription.lane, days: singleDay(day), delayMs, traceparent }];
  });
}

/** Whether to notify the owner of a delivery with an exhausted schedule: once between two successes. */
function mustNotifyOfFailure({ before, after }: HealthChange): boolean {
  const isSameSeries = before.failingSince?.getTime() === after.failingSince?.getTime();
  return after.failureNotified && !(before.failureNotified && isSameSeries);
}

/** Narrows the type. It is true for both callers, since their subscriptions have consecutive failures. */
function isFailing(health: SubscriptionHealth): health is SubscriptionHealth & FailingSubscription {
  return health.failingSince !== null;
}

function isDisabledAutomatically(
  health: SubscriptionHealth,
): health is SubscriptionHealth & DisabledSubscription {
  return isFailing(health) && health.disabledReason !== null && health.disabledReason !== 'owner';
}

function subscriptionIds(attempts: readonly Attempt[]): string[] {
  return [...new Set(attempts.map(({ delivery }) => delivery.subscriptionId))];
}

function attemptResult({ exchange, next }: DecidedAttempt): AttemptResult {
  return {
    succeeded: exchange.outcome === 'succeeded',
    gone: exchange.statusCode === 410,
    exhausted: next.failureReason === 'exhausted',
    durationMs: exchange.processStalled ? null : exchange.durationMs,
  };
}

/** Returns the attempts whose deliveries were still leased. */
async function writeSettled(tx: Transaction, decided: readonly DecidedAttempt[]): Promise<DecidedAttempt[]> {
  const days = decided.map(({ delivery }) => singleDay(delivery.day)).reduce(mergeSpans);
  const values = { first_day: days.from, last_day: days.to, ...results.values(decided) };
  const rows = await tx.rows<{ delivery_id: string }>(settle, values);
  const settledIds = new Set(rows.map((row) => row.delivery_id));
  return decided.filter(({ delivery }) => settledIds.has(delivery.id));
}
