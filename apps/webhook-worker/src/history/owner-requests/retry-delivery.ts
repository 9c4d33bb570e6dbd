import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, throwNotFound } from '@fulfilment/error-envelope';
import { type Caller, createOnce, ResponseWithHeaders } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import type { DeliveryView } from '../delivery.shapes.js';
import { deliveryColumns, type DeliveryRow, deliveryView } from '../delivery.view.js';
import { keyedRequest } from './keyed-request.js';
import { deliveryUuid, lockOwned } from '../owned-subscription.js';
import { consumeOwnerRequestQuota } from './owner-request-quota.js';

// Waits for a worker that is just claiming the delivery, and then finds it in flight.
const lock = statement(
  'history.lock-delivery',
  'SELECT status, test FROM webhook_deliveries WHERE id = $1 AND subscription_id = $2 FOR UPDATE',
);
// Saves the state that is restored if the attempt fails. A second request before the attempt does not
// overwrite it.
const savePriorState = statement(
  'history.save-prior-state',
  `UPDATE webhook_deliveries SET prior_status = status, prior_failure_reason = failure_reason, prior_trigger = trigger,
     prior_next_attempt_at = next_attempt_at, prior_completed_at = completed_at
   WHERE id = $1 AND subscription_id = $2 AND prior_status IS NULL`,
);
const makeDue = statement(
  'history.retry',
  `UPDATE webhook_deliveries d SET status = 'pending', next_attempt_at = now(), completed_at = NULL, failure_reason = NULL,
     trigger = CASE WHEN d.test THEN 'test' ELSE 'manual' END
   WHERE d.id = $1 AND d.subscription_id = $2 RETURNING ${deliveryColumns}`,
);

@Injectable()
export class RetryDelivery {
  constructor(
    private readonly database: Database,
    private readonly queue: DispatchQueue,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Makes one additional attempt now, whatever the status of the delivery, even while the subscription is
   * disabled. It has the same id and bytes, and the next number. settlement.rules.ts decides the state of the
   * delivery after a failure: in most cases its previous one.
   *
   * @throws NotFound
   * @throws RateLimited after sixty in a minute; for a test event, after ten tests and retries of tests
   * @throws Conflict while an attempt is running, or when the key was used for another request
   */
  async run(
    caller: Caller,
    webhookId: string,
    deliveryId: string,
    key?: string,
  ): Promise<ResponseWithHeaders<DeliveryView>> {
    const id = deliveryUuid(deliveryId);
    const request = keyedRequest(caller, webhookId, key, { retry: id }, this.clock());
    const { response, headers } = await this.database.transaction((tx) =>
      createOnce(tx, request, () => this.retry(tx, caller, webhookId, id)),
    );
    return new ResponseWithHeaders(response, headers);
  }

  private async retry(tx: Transaction, caller: Caller, webhookId: string, id: string): Promise<DeliveryView> {
    const subscription = await lockOwned(tx, caller, webhookId);
    const ids = [id, subscription.id];
    const delivery =
      (await tx.row<{ status: string; test: boolean }>(lock, ids)) ?? throwNotFound('webhook delivery');
    await consumeOwnerRequestQuota(tx, subscription.id, delivery.test ? 'test' : 'retry');
    if (delivery.status === 'in_flight') throw new Conflict('An attempt of this delivery is in progress.');
    await tx.run(savePriorState, ids);
    const row = (await tx.row<DeliveryRow>(makeDue, ids)) ?? throwNotFound('webhook delivery');
    this.queue.scheduleAfterCommit(tx, [{ subscriptionId: subscription.id, lane: subscription.lane }]);
    return deliveryView(row);
  }
}
