import { publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { Conflict, ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { WakeUps } from '../delivery/wake-ups.js';
import type { RecoverDeliveriesDto } from './delivery.dto.js';
import type { Recovery } from './delivery.shapes.js';
import { lockOwned } from './owned-subscription.js';

// They start the schedule anew; a drain takes a few at a time, so the receiver is not flooded.
const recover = statement(
  'history.recover',
  `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now(), completed_at = NULL, failure_reason = NULL,
     trigger = 'recover', schedule_step = 0
   WHERE subscription_id = $1 AND created_at >= $2 AND created_at <= coalesce($3::timestamptz, now())
     AND status = ANY($4::text[]) AND NOT test`,
);

@Injectable()
export class RecoverDeliveries {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Sends again what failed or was held in a span of time. A second call matches only what failed since, so repeating one is harmless.
   *
   * @throws NotFound
   * @throws ValidationFailed when the span ends before it begins
   * @throws Conflict while the subscription is disabled
   */
  async run(caller: Caller, webhookId: string, wish: RecoverDeliveriesDto): Promise<Recovery> {
    const { since, until, statuses } = wish;
    if (until !== undefined && Date.parse(until) < Date.parse(since)) {
      throw new ValidationFailed([{ field: 'until', reason: 'must not be before since' }]);
    }
    return this.database.transaction(async (tx) => {
      const subscription = await lockOwned(tx, caller, webhookId);
      if (subscription.status === 'disabled') {
        throw new Conflict('This webhook subscription is disabled. Enable it first.');
      }
      const matched = await tx.run(recover, [subscription.id, since, until, statuses]);
      tx.afterCommit(() => this.wakeUps.wake([{ subscriptionId: subscription.id, lane: subscription.lane }]));
      return { id: publicId('whr', uuidv7()), matched };
    });
  }
}
