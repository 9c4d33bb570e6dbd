import { InvalidMessage, type Message, parseEnvelope, parseMessage } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { Outbox, recordOutcome, RejectedMessage } from '@fulfilment/messaging';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';

/**
 * Thrown for a fulfilment event that needs another event first. It is deferred until the other event arrives.
 */
export class EventOutOfOrderError extends Error {
  override readonly name = 'EventOutOfOrderError';

  constructor(
    /** UUID of the order. */
    readonly orderId: string,
    message: string,
  ) {
    super(message);
  }
}

const queue = 'store-api.fulfilment';
/** Maximum number of deferred events of one order; further ones are rejected. */
const maxPerOrder = 100;
const pollIntervalMs = 2_000;
const batchSize = 50;
const deletionBatchSize = 1000;

const readWaiting = statement(
  'deferred.waiting',
  `SELECT count(*) FILTER (WHERE message_id <> $2) AS others,
          bool_or(message_id = $2 AND deferred_at + $3::bigint * interval '1 millisecond' <= now()) AS overdue
   FROM deferred_events WHERE order_id = $1`,
);
// The event is due after 30 s, then at growing intervals of up to an hour, and at the end of REPORT_HELD_MS.
const upsertDeferred = statement(
  'deferred.upsert',
  `INSERT INTO deferred_events AS deferred (message_id, order_id, occurred_at, body, retry_at)
   VALUES ($1, $2, $3, $4, now() + least(interval '30 seconds', $5::bigint * interval '1 millisecond'))
   ON CONFLICT (message_id) DO UPDATE SET
     retry_at = least(now() + greatest(interval '30 seconds', least(now() - deferred.deferred_at, interval '1 hour')),
                      deferred.deferred_at + $5::bigint * interval '1 millisecond')`,
);
const readDeferred = statement(
  'deferred.read',
  'SELECT message_id, body::text AS body FROM deferred_events WHERE order_id = $1 ORDER BY occurred_at, message_id',
);
const readOrderIds = statement(
  'deferred.order-ids',
  'SELECT DISTINCT order_id FROM deferred_events WHERE order_id = ANY ($1::uuid[])',
);
const deleteDeferred = statement('deferred.delete', 'DELETE FROM deferred_events WHERE message_id = $1');
const retryNow = statement(
  'deferred.retry-now',
  'UPDATE deferred_events SET retry_at = now() WHERE message_id = $1',
);
// The claimed events are published. They are due again after 5 minutes, in case their messages are lost.
// After REPORT_HELD_MS an event is published for the last time, and the consumer rejects it.
const claimDue = statement(
  'deferred.claim-due',
  `UPDATE deferred_events d SET retry_at = CASE WHEN deferred_at + $1::bigint * interval '1 millisecond' <= now()
                                        THEN 'infinity' ELSE now() + interval '5 minutes' END
   FROM (SELECT message_id FROM deferred_events WHERE retry_at <= now() ORDER BY retry_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) AS due
   WHERE d.message_id = due.message_id RETURNING d.message_id, d.body::text AS body`,
);
// Publishes an event with an invalid envelope for the consumer, which dead-letters it. Also deletes it here,
// since the consumer cannot read its id to record the rejection.
const publishInvalid = statement(
  'deferred.publish-invalid',
  `WITH deferred AS (DELETE FROM deferred_events WHERE message_id = $1 RETURNING message_id, body)
   INSERT INTO outbox (message_id, type, body) SELECT message_id, 'fulfilment.invalid_event', body FROM deferred`,
);
// A rejection rolls back the transaction of the event, so the row of the event remains. Locked rows are
// skipped: another transaction is handling their events.
const deleteRejected = statement(
  'deferred.delete-rejected',
  `DELETE FROM deferred_events WHERE message_id = ANY (ARRAY(
     SELECT d.message_id FROM deferred_events d JOIN inbox i ON i.message_id = d.message_id AND i.queue = $1
     WHERE (d.retry_at <= now() OR d.retry_at = 'infinity') AND i.outcome = 'refused'
     LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`,
);
// Deletes events whose rejection was not found in the inbox, such as those whose last message was lost.
const deleteExpired = statement(
  'deferred.delete-expired',
  `DELETE FROM deferred_events WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM deferred_events
     WHERE retry_at = 'infinity' AND deferred_at < now() - interval '7 days' - $1::bigint * interval '1 millisecond'
     LIMIT ${deletionBatchSize} FOR UPDATE SKIP LOCKED))`,
);

interface DeferredRow {
  readonly message_id: string;
  readonly body: string;
}

/**
 * Fulfilment events that arrived before an event that they need. They wait in PostgreSQL, and each is applied
 * in the transaction of that event. An event that waits is also published from time to time, so that it is
 * applied by the consumer, or rejected after REPORT_HELD_MS.
 */
@Injectable()
export class DeferredEvents extends BackgroundLoop {
  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly outbox: Outbox,
    @Inject(CONFIG) private readonly config: Pick<StoreApiSettings, 'REPORT_HELD_MS'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    super({ name: 'deferred-events', intervalMs: pollIntervalMs, logger, round: () => this.round() });
  }

  /** Returns which of the orders have deferred events, by their UUIDs. The caller has locked the orders. */
  async findOrdersWithEvents(tx: Transaction, orderIds: readonly string[]): Promise<Set<string>> {
    const rows = await tx.rows<{ order_id: string }>(readOrderIds, [orderIds]);
    return new Set(rows.map((row) => row.order_id));
  }

  /**
   * Stores an event until the event that it needs arrives.
   * @throws RejectedMessage when the event has waited for REPORT_HELD_MS, or too many events of the order
   *   wait
   */
  async defer(tx: Transaction, message: Message, cause: EventOutOfOrderError): Promise<void> {
    const maxWaitMs = this.config.REPORT_HELD_MS;
    const waiting = await tx.row<{ others: number; overdue: boolean | null }>(readWaiting, [
      cause.orderId,
      message.id,
      maxWaitMs,
    ]);
    if (waiting?.overdue === true)
      throw new RejectedMessage(`${cause.message}; waited for ${maxWaitMs / 1000} s`);
    if ((waiting?.others ?? 0) >= maxPerOrder)
      throw new RejectedMessage(`${cause.message}; ${maxPerOrder} events of the order are already waiting`);
    await tx.run(upsertDeferred, [
      message.id,
      cause.orderId,
      message.occurred_at,
      JSON.stringify(message),
      maxWaitMs,
    ]);
    // `held` is the stored outcome of a deferred event, and `refused` the one of a rejected event.
    await recordOutcome(tx, queue, message.id, 'held', cause.message);
  }

  /**
   * Applies the deferred events of an order, by time. Repeats that until no event can be applied, since one
   * may enable another.
   * @param appliedId the id of the event that was applied: it may be a deferred one that was published again
   * @param apply writes nothing if it throws
   */
  async applyDeferred(
    tx: Transaction,
    orderId: string,
    appliedId: string,
    apply: (message: Message) => Promise<unknown>,
  ): Promise<void> {
    await tx.run(deleteDeferred, [appliedId]);
    let isAnyApplied: boolean;
    do {
      isAnyApplied = false;
      for (const { message_id: id, body } of await tx.rows<DeferredRow>(readDeferred, [orderId])) {
        const outcome = await tryApply(() => apply(parseMessage(body)));
        // The next round publishes the event, so that its rejection does not roll back this transaction.
        if (outcome === 'rejected') await tx.run(retryNow, [id]);
        if (outcome !== 'applied') continue;
        await tx.run(deleteDeferred, [id]);
        await recordOutcome(tx, queue, id, 'applied');
        isAnyApplied = true;
      }
    } while (isAnyApplied);
  }

  /**
   * Publishes due events to their queue under their own ids, and deletes the events that the consumer has
   * rejected or that have expired. The consumer rejects an event that the catalogue of messages no longer
   * accepts. Returns whether there may be more.
   */
  async round(): Promise<boolean> {
    const maxWaitMs = this.config.REPORT_HELD_MS;
    if ((await this.database.run(deleteRejected, [queue])) === batchSize) return true;
    const published = await this.database.transaction(async (tx) => {
      const due = await tx.rows<DeferredRow>(claimDue, [maxWaitMs]);
      await this.publish(tx, due);
      return due.length;
    });
    const deleted = await this.database.run(deleteExpired, [maxWaitMs]);
    return published === batchSize || deleted === deletionBatchSize;
  }

  private async publish(tx: Transaction, due: readonly DeferredRow[]): Promise<void> {
    const outgoing: Message[] = [];
    for (const { message_id: id, body } of due) {
      try {
        outgoing.push(parseEnvelope(body));
      } catch (error) {
        if (!(error instanceof InvalidMessage)) throw error;
        await tx.run(publishInvalid, [id]);
        await recordOutcome(tx, queue, id, 'refused', error.message);
      }
    }
    await this.outbox.add(tx, ...outgoing);
  }
}

async function tryApply(apply: () => Promise<unknown>): Promise<'applied' | 'out-of-order' | 'rejected'> {
  try {
    await apply();
    return 'applied';
  } catch (error) {
    if (error instanceof EventOutOfOrderError) return 'out-of-order';
    if (error instanceof RejectedMessage || error instanceof InvalidMessage) return 'rejected';
    throw error;
  }
}
