import { uuidv7, type WebhookEvent } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { createOnce, ResponseWithHeaders, type Caller } from '@fulfilment/http-service';
import { CLOCK, type Clock, currentContext } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../../config.js';
import { deliveryIdSql } from '../../delivery/delivery-id.js';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import { renderBody } from '../../fan-out/envelope.rules.js';
import { eventDay } from '../../fan-out/event-day.rules.js';
import { sampleData } from '../../fan-out/sample-event.rules.js';
import { firstEventOf } from '../../subscriptions/subscription.rules.js';
import type { SendTestEventDto } from '../delivery.dto.js';
import type { DeliveryView } from '../delivery.shapes.js';
import { deliveryColumns, type DeliveryRow, deliveryView } from '../delivery.view.js';
import { keyedRequest } from './keyed-request.js';
import { lockOwned } from '../owned-subscription.js';
import { consumeOwnerRequestQuota } from './owner-request-quota.js';

const insertEvent = statement(
  'history.insert-test-event',
  `INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, traceparent, body)
   SELECT :day, :event_id, :api_version, :event, creator_id, :occurred_at, :traceparent, :body
   FROM webhook_subscriptions WHERE id = :subscription_id`,
);
const insertDelivery = statement(
  'history.insert-test-delivery',
  `INSERT INTO webhook_deliveries AS d
     (day, id, subscription_id, event_id, event, api_version, test, trigger, status, next_attempt_at)
   VALUES (:day, ${deliveryIdSql(':event_id::uuid', ':subscription_id::uuid')}, :subscription_id, :event_id, :event, :api_version,
     true, 'test', 'pending', now())
   RETURNING ${deliveryColumns}`,
);

@Injectable()
export class SendTestEvent {
  constructor(
    private readonly database: Database,
    private readonly queue: DispatchQueue,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Sends a sample event like a real one, in the `api_version` of the subscription. It has one attempt, is
   * also sent while the subscription is disabled, and does not affect its health. If the request names no
   * event, the first that the subscription receives is used; `order.created` if all of those are retired.
   *
   * @throws NotFound
   * @throws Conflict when the key was used with another body
   * @throws RateLimited after ten in a minute, including manual retries of tests
   */
  async run(
    caller: Caller,
    webhookId: string,
    { event }: SendTestEventDto,
    key?: string,
  ): Promise<ResponseWithHeaders<DeliveryView>> {
    const request = keyedRequest(caller, webhookId, key, { test: event ?? null }, this.clock());
    const { response: view, headers } = await this.database.transaction((tx) =>
      createOnce(tx, request, () => this.send(tx, caller, webhookId, event)),
    );
    const location = `${this.config.BASE_URL}/store/v1/webhooks/${webhookId}/deliveries/${view.id}`;
    return new ResponseWithHeaders(view, { Location: location, ...headers });
  }

  private async send(
    tx: Transaction,
    caller: Caller,
    webhookId: string,
    event: WebhookEvent | undefined,
  ): Promise<DeliveryView> {
    const { id: subscriptionId, events, api_version, lane } = await lockOwned(tx, caller, webhookId);
    await consumeOwnerRequestQuota(tx, subscriptionId, 'test');
    const sent = event ?? firstEventOf(events) ?? 'order.created';
    const now = this.clock();
    const occurredAt = now.toISOString();
    const eventId = uuidv7(now);
    const content = { id: eventId, event: sent, occurredAt, data: sampleData(sent, now) };
    const values = {
      day: eventDay(eventId, occurredAt),
      event_id: eventId,
      subscription_id: subscriptionId,
      api_version,
      event: sent,
      occurred_at: occurredAt,
      traceparent: currentContext()?.traceparent,
      body: renderBody(content, api_version, { test: true }),
    };
    await tx.run(insertEvent, values);
    const row = await tx.row<DeliveryRow>(insertDelivery, values);
    if (row === undefined) throw new Error('The inserted test delivery was not returned.');
    this.queue.scheduleAfterCommit(tx, [{ subscriptionId, lane }]);
    return deliveryView(row);
  }
}
