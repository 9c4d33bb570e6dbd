import { messages } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { Messaging } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import type { DisabledReason } from './subscription.rules.js';

const warnBeforeMs = 24 * 3_600_000;
const mostAtOnce = 500;

/** Owners know what they did themselves. */
export type DisabledByUs = Exclude<DisabledReason, 'owner'>;

/** A subscription whose receiver fails. */
export interface FailingSubscription {
  readonly id: string;
  readonly creatorId: string;
  readonly clientId: string;
  readonly consecutiveFailures: number;
  readonly failingSince: Date;
}

// With failures enough it is time alone that is left.
const takeToBeDisabled = statement(
  'subscriptions.take-to-be-disabled',
  `WITH due AS (
     SELECT id FROM webhook_subscriptions
     WHERE failing_since <= now() - $2 * interval '1 millisecond' AND consecutive_failures >= $1
       AND status = 'active' AND deleted_at IS NULL AND NOT told_to_be_disabled
     ORDER BY id LIMIT ${mostAtOnce} FOR NO KEY UPDATE SKIP LOCKED
   )
   UPDATE webhook_subscriptions s SET told_to_be_disabled = true FROM due WHERE s.id = due.id
   RETURNING s.id, s.creator_id AS "creatorId", s.client_id AS "clientId", s.consecutive_failures AS "consecutiveFailures",
     s.failing_since AS "failingSince", now() AS now`,
);

/** Tells, by messages that others turn into mail, what the owner of a subscription cannot learn from webhooks that do not arrive. */
@Injectable()
export class TellOwners {
  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly messaging: Messaging,
    @Inject(CONFIG)
    private readonly config: Pick<
      WebhookWorkerSettings,
      'WEBHOOK_DISABLE_FAILURES' | 'WEBHOOK_DISABLE_AFTER_MS'
    >,
  ) {}

  /** A delivery failed for good: the first since the receiver began to fail. */
  deliveryFailed(tx: Transaction, subscriptions: readonly FailingSubscription[], now: Date): Promise<void> {
    return this.degraded(tx, 'delivery_failed', subscriptions, now);
  }

  async disabled(
    tx: Transaction,
    subscriptions: readonly (FailingSubscription & { readonly reason: DisabledByUs })[],
    now: Date,
  ): Promise<void> {
    const told = subscriptions.map((one) =>
      messages.webhookSubscriptionDisabled.make(
        { ...dataOf(one), reason: one.reason, disabled_at: now.toISOString() },
        { occurredAt: now },
      ),
    );
    await this.messaging.outbox.add(tx, ...told);
  }

  /** Warns of those that will be disabled within a day if nothing succeeds. Answers whether there may be more. */
  warn(): Promise<boolean> {
    const { WEBHOOK_DISABLE_FAILURES: failures, WEBHOOK_DISABLE_AFTER_MS: afterMs } = this.config;
    return this.database.transaction(async (tx) => {
      const due = await tx.rows<FailingSubscription & { now: Date }>(takeToBeDisabled, [
        failures,
        Math.max(0, afterMs - warnBeforeMs),
      ]);
      await this.degraded(tx, 'to_be_disabled', due, due[0]?.now ?? new Date());
      return due.length === mostAtOnce;
    });
  }

  private async degraded(
    tx: Transaction,
    reason: 'delivery_failed' | 'to_be_disabled',
    subscriptions: readonly FailingSubscription[],
    now: Date,
  ): Promise<void> {
    const told = subscriptions.map((one) =>
      messages.webhookSubscriptionDegraded.make(
        { ...dataOf(one), reason, disabled_at: this.willBeDisabledAt(one) },
        { occurredAt: now },
      ),
    );
    await this.messaging.outbox.add(tx, ...told);
  }

  private willBeDisabledAt({ consecutiveFailures, failingSince }: FailingSubscription): string | null {
    const { WEBHOOK_DISABLE_FAILURES: failures, WEBHOOK_DISABLE_AFTER_MS: afterMs } = this.config;
    return consecutiveFailures < failures ? null : new Date(failingSince.getTime() + afterMs).toISOString();
  }
}

function dataOf({ id, creatorId, clientId, consecutiveFailures, failingSince }: FailingSubscription) {
  return {
    subscription_id: id,
    creator_id: creatorId,
    client_id: clientId,
    consecutive_failures: consecutiveFailures,
    failing_since: failingSince.toISOString(),
  };
}
