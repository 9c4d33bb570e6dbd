import { type Message, messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';

// A repeated message has the same id, so its event is recorded once. The order of messages does not matter.
// Concurrent batches lock their rows in the same order, so they never deadlock.
const insert = statement(
  'order-events.insert',
  `INSERT INTO order_events (order_id, message_id, creator_id, type, occurred_at, reason, tracking)
   SELECT e.* FROM jsonb_to_recordset($1::jsonb) AS e(order_id uuid, message_id uuid, creator_id uuid, type text,
     occurred_at timestamptz, reason text, tracking jsonb)
   ORDER BY order_id, message_id
   ON CONFLICT (order_id, message_id) DO NOTHING`,
);

/** The messages that are recorded. The row of the order has the times of its placing, payment and refund. */
const recordedMessages = [
  { definition: messages.orderPaymentFailed, event: 'charge_failed', withTracking: false },
  { definition: messages.orderShipped, event: 'shipped', withTracking: true },
  { definition: messages.orderTrackingUpdated, event: 'tracking_updated', withTracking: true },
  { definition: messages.orderDelivered, event: 'delivered', withTracking: false },
  { definition: messages.orderCancelled, event: 'cancelled', withTracking: false },
] as const;
export type RecordedEvent = (typeof recordedMessages)[number]['event'];

/** Records what messages reported about orders, for their timelines. */
export async function recordOrderEvents(tx: Transaction, batch: readonly Message[]): Promise<void> {
  const rows = batch.flatMap((message) =>
    recordedMessages.flatMap(({ definition, event, withTracking }) => {
      if (!definition.is(message)) return [];
      const { id: message_id, occurred_at, data } = message;
      const { id: order_id, creator_id, tracking } = data.order;
      return {
        order_id,
        message_id,
        creator_id,
        type: event,
        occurred_at,
        reason: 'reason' in data ? data.reason : null,
        tracking: withTracking ? tracking : null,
      };
    }),
  );
  if (rows.length > 0) await tx.run(insert, [JSON.stringify(rows)]);
}
