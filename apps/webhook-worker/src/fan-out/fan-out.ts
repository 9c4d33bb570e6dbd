import { type Message } from '@fulfilment/contracts';
import { RowParameters, statement, type Transaction } from '@fulfilment/database';
import { RejectedMessage } from '@fulfilment/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { deliveryIdSql } from '../delivery/delivery-id.js';
import type { Lane } from '../dispatch-queue/lanes.rules.js';
import { DispatchQueue } from '../dispatch-queue/dispatch-queue.js';
import { type ApiVersion, apiVersions } from '../subscriptions/subscription.rules.js';
import { renderBody } from './envelope.rules.js';
import { type EventContent, IncompleteMessage, toEvent } from './event-data.rules.js';
import { eventDay } from './event-day.rules.js';

const incoming = new RowParameters<EventRow>('i', {
  day: ['date', ({ day }) => day],
  id: ['uuid', ({ id }) => id],
  api_version: ['text', ({ apiVersion }) => apiVersion],
  event: ['text', ({ event }) => event],
  creator_id: ['uuid', ({ creatorId }) => creatorId],
  subject_id: ['uuid', ({ subjectId }) => subjectId],
  occurred_at: ['timestamptz', ({ occurredAt }) => occurredAt],
  traceparent: ['text', ({ traceparent }) => traceparent],
  body: ['bytea', ({ body }) => body],
});
// One statement for the whole batch. An event is kept if a subscription gets it, or if its creator has a
// feed. `feed_position` 0 means that the event has no position in the feed yet. Deliveries of disabled
// subscriptions are written as well; they are held once the reconciler has found them.
const fanOut = statement(
  'fan-out.insert',
  `WITH incoming AS (SELECT * FROM ${incoming.table()}), matched AS (
     SELECT i.*, s.id AS subscription_id, s.lane, s.status
     FROM incoming i JOIN webhook_subscriptions s
       ON s.creator_id = i.creator_id AND s.api_version = i.api_version AND s.deleted_at IS NULL
         AND s.events && ARRAY[i.event, split_part(i.event, '.', 1) || '.*', '*']
   ), kept AS (
     SELECT i.*, CASE WHEN f.creator_id IS NOT NULL THEN 0 END AS feed_position
     FROM incoming i LEFT JOIN webhook_event_feeds f ON f.creator_id = i.creator_id AND f.api_version = i.api_version
     WHERE f.creator_id IS NOT NULL OR (i.day, i.id, i.api_version) IN (SELECT day, id, api_version FROM matched)
   ), inserted_events AS (
     INSERT INTO webhook_events (day, id, api_version, event, creator_id, subject_id, occurred_at, traceparent, body,
       feed_position)
     SELECT DISTINCT ON (day, id, api_version) day, id, api_version, event, creator_id, subject_id, occurred_at,
       traceparent, body, feed_position
     FROM kept ORDER BY day, id, api_version
     ON CONFLICT DO NOTHING
   ), written AS (
     INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, next_attempt_at)
     SELECT day,
       ${deliveryIdSql('id', 'subscription_id')} AS delivery_id,
       subscription_id, id, event, api_version, 'pending', now() + :first_delay_ms * interval '1 millisecond'
     FROM matched ORDER BY day, delivery_id
     ON CONFLICT DO NOTHING
     RETURNING subscription_id, day
   )
   SELECT subscription_id, lane, min(written.day) AS first_day, max(written.day) AS last_day
   FROM written JOIN (SELECT DISTINCT subscription_id, lane FROM matched WHERE status = 'active') AS active USING (subscription_id)
   GROUP BY subscription_id, lane`,
);

/** An event with the body for subscriptions of one `api_version`. */
interface EventRow extends Omit<EventContent, 'data'> {
  readonly day: string;
  readonly id: string;
  readonly apiVersion: ApiVersion;
  readonly occurredAt: string;
  readonly traceparent: string | undefined;
  readonly body: Buffer;
}

/** An active subscription, and the days of its new deliveries. */
interface DueRow {
  readonly subscription_id: string;
  readonly lane: Lane;
  readonly first_day: string;
  readonly last_day: string;
}

/** Writes the events that a subscription or a feed gets, and one delivery for each subscription to them. */
@Injectable()
export class FanOut {
  constructor(
    private readonly queue: DispatchQueue,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
  ) {}

  /** @throws RejectedMessage when a message lacks data which its event requires */
  async run(tx: Transaction, messages: readonly Message[]): Promise<void> {
    const rows = messages.flatMap(eventRows);
    if (rows.length === 0) return;
    const firstDelayMs = this.config.WEBHOOK_RETRY_SCHEDULE_MS[0] ?? 0;
    const active = await tx.rows<DueRow>(fanOut, { first_delay_ms: firstDelayMs, ...incoming.values(rows) });
    this.queue.scheduleAfterCommit(
      tx,
      active.map((row) => ({
        subscriptionId: row.subscription_id,
        lane: row.lane,
        days: { from: row.first_day, to: row.last_day },
        delayMs: firstDelayMs,
      })),
    );
  }
}

function eventRows(message: Message): EventRow[] {
  const content = toEventOrReject(message);
  if (content === undefined) return [];
  const { id, occurred_at: occurredAt, traceparent } = message;
  const { event, creatorId, subjectId, data } = content;
  return apiVersions.map((apiVersion) => ({
    day: eventDay(id, occurredAt),
    id,
    apiVersion,
    event,
    creatorId,
    subjectId,
    occurredAt,
    traceparent,
    body: renderBody({ id, event, occurredAt, data }, apiVersion),
  }));
}

function toEventOrReject(message: Message): EventContent | undefined {
  try {
    return toEvent(message);
  } catch (error) {
    if (error instanceof IncompleteMessage) throw new RejectedMessage(`${message.type}: ${error.message}`);
    throw error;
  }
}
