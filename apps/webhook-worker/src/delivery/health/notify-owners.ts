import { messages } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../../config.js';
import type { DisabledReason } from '../../subscriptions/subscription.rules.js';

/**
 * Owners are warned a day before their subscription is disabled. With few events, the required number of
 * failures may be reached only when the whole time has passed; then there is no warning.
 */
const warnBeforeMs = 24 * 3_600_000;
const batchSize = 500;

/** A subscription whose receiver fails. */
export interface FailingSubscription {
  readonly id: string;
  readonly creatorId: string;
  readonly clientId: string;
  readonly consecutiveFailures: number;
  readonly failingSince: Date;
}

/** A subscription that the service disabled, not its owner. */
export interface DisabledSubscription extends FailingSubscription {
  readonly disabledReason: Exclude<DisabledReason, 'owner'>;
}

// $1: the number of consecutive failures that disables a subscription. $2: the minimum time since the first
// of them, in ms; a day less than the time that disables it.
const markSubscriptionsToWarn = statement(
  'subscriptions.mark-to-warn',
  `WITH due AS (
     SELECT id FROM webhook_subscriptions
     WHERE failing_since <= now() - $2 * interval '1 millisecond' AND consecutive_failures >= $1
       AND status = 'active' AND deleted_at IS NULL AND NOT disabling_notified
     ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE SKIP LOCKED
   )
   UPDATE webhook_subscriptions s SET disabling_notified = true FROM due WHERE s.id = due.id
   RETURNING s.id, s.creator_id AS "creatorId", s.client_id AS "clientId", s.consecutive_failures AS "consecutiveFailures",
     s.failing_since AS "failingSince", now() AS now`,
);

/**
 * Publishes messages about failing subscriptions, for a service outside the suite that sends e-mails to the
 * owners.
 */
@Injectable()
export class NotifyOwners {
  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly outbox: Outbox,
    @Inject(CONFIG)
    private readonly config: Pick<
      WebhookWorkerSettings,
      'WEBHOOK_DISABLE_FAILURES' | 'WEBHOOK_DISABLE_AFTER_MS'
    >,
  ) {}

  async notifyDisabled(
    tx: Transaction,
    subscriptions: readonly DisabledSubscription[],
    now: Date,
  ): Promise<void> {
    const published = subscriptions.map((subscription) =>
      messages.webhookSubscriptionDisabled.make(
        { ...messageData(subscription), reason: subscription.disabledReason, disabled_at: now.toISOString() },
        { occurredAt: now },
      ),
    );
    await this.outbox.add(tx, ...published);
  }

  /**
   * Warns the owners of a batch of subscriptions that will be disabled within a day unless their receivers
   * recover. Returns whether there may be more.
   */
  warnBeforeDisabling(): Promise<boolean> {
    const { WEBHOOK_DISABLE_FAILURES: failures, WEBHOOK_DISABLE_AFTER_MS: afterMs } = this.config;
    return this.database.transaction(async (tx) => {
      const due = await tx.rows<FailingSubscription & { now: Date }>(markSubscriptionsToWarn, [
        failures,
        Math.max(0, afterMs - warnBeforeMs),
      ]);
      const [first] = due;
      if (first === undefined) return false;
      await this.notifyDegraded(tx, 'to_be_disabled', due, first.now);
      return due.length === batchSize;
    });
  }

  /**
   * @param reason `delivery_failed`: a delivery has exhausted its schedule, the first one since the receiver
   *   began to fail
   */
  async notifyDegraded(
    tx: Transaction,
    reason: 'delivery_failed' | 'to_be_disabled',
    subscriptions: readonly FailingSubscription[],
    now: Date,
  ): Promise<void> {
    const published = subscriptions.map((subscription) =>
      messages.webhookSubscriptionDegraded.make(
        { ...messageData(subscription), reason, disabled_at: this.disableTime(subscription) },
        { occurredAt: now },
      ),
    );
    await this.outbox.add(tx, ...published);
  }

  /**
   * Returns `disabled_at` of a degraded message: when the subscription will be disabled. Null while too few
   * attempts have failed.
   */
  private disableTime({ consecutiveFailures, failingSince }: FailingSubscription): string | null {
    const { WEBHOOK_DISABLE_FAILURES: failures, WEBHOOK_DISABLE_AFTER_MS: afterMs } = this.config;
    return consecutiveFailures < failures ? null : new Date(failingSince.getTime() + afterMs).toISOString();
  }
}

function messageData({ id, creatorId, clientId, consecutiveFailures, failingSince }: FailingSubscription) {
  return {
    subscription_id: id,
    creator_id: creatorId,
    client_id: clientId,
    consecutive_failures: consecutiveFailures,
    failing_since: failingSince.toISOString(),
  };
}
