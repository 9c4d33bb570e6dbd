import { type Message, messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';

// A repeated message has the same id, so its event is recorded once, in whatever order messages arrive.
// Concurrent batches lock their rows in the same order, so they never deadlock.
const insert = statement(
  'order-events.insert',
  `INSERT INTO order_events (order_id, message_id, creator_id, type, occurred_at, reason, tracking)
   SELECT e.* FROM jsonb_to_recordset($1::jsonb) AS e(order_id uuid, message_id uuid, creator_id uuid, type text,
     occurred_at timestamptz, reason text, tracking jsonb)
   ORDER BY order_id, message_id
   ON CONFLICT (order_id, message_id) DO NOTHING`,
);

/** A row of `order_events`. When an order was placed, paid and refunded is in the order itself. */
interface OrderEventRow {
  readonly order_id: string;
  readonly message_id: string;
  readonly creator_id: string;
  readonly type: RecordedEvent;
  readonly occurred_at: string;
  readonly reason: string | null;
  readonly tracking: object | null;
}

export type RecordedEvent = 'charge_failed' | 'shipped' | 'tracking_updated' | 'delivered' | 'cancelled';

/** Records what messages reported about orders, for their timelines. */
export async function recordOrderEvents(tx: Transaction, batch: readonly Message[]): Promise<void> {
  const rows = batch.flatMap(orderEvent);
  if (rows.length > 0) await tx.run(insert, [JSON.stringify(rows)]);
}

function orderEvent(message: Message): OrderEventRow[] {
  if (messages.orderPaymentFailed.is(message))
    return [row(message, 'charge_failed', message.data, { reason: message.data.reason })];
  if (messages.orderShipped.is(message))
    return [row(message, 'shipped', message.data, trackingOf(message.data))];
  if (messages.orderTrackingUpdated.is(message))
    return [row(message, 'tracking_updated', message.data, trackingOf(message.data))];
  if (messages.orderDelivered.is(message)) return [row(message, 'delivered', message.data)];
  if (messages.orderCancelled.is(message))
    return [row(message, 'cancelled', message.data, { reason: message.data.reason })];
  return [];
}

interface OrderData {
  readonly order: { readonly id: string; readonly creator_id: string; readonly tracking: object | null };
}

function trackingOf({ order: { tracking } }: OrderData): { tracking: object | null } {
  return { tracking };
}

function row(
  { id, occurred_at }: Message,
  type: RecordedEvent,
  { order }: OrderData,
  { reason = null, tracking = null }: Partial<Pick<OrderEventRow, 'reason' | 'tracking'>> = {},
): OrderEventRow {
  const { id: order_id, creator_id } = order;
  return { order_id, message_id: id, creator_id, type, occurred_at, reason, tracking };
}
