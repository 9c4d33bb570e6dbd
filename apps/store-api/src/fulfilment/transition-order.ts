import { messages, type Message, type OrderStatus, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Outbox, RejectedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Stock } from '../catalogue/stock.js';
import { itemsOf, orderColumns, type OrderRow, orderSnapshot, type PackageRow } from '../orders/order-row.js';
import { OutOfOrderEvent } from './deferred-events.js';
import { type FulfilmentAction, fulfilmentEvents } from '../orders/order.rules.js';
import { eventsIn, type PackageHistory, storedHistory } from './package-history.js';
import { type PackageEvent, packagesOf, withEvent } from './package.rules.js';
import { nextUpdateTime } from '../next-update-time.js';

interface Tracking {
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
}

/** The order with the events of its packages. */
interface LockedOrder extends OrderRow {
  package_history: PackageHistory;
}

/** Maximum of package events that an order stores. */
const maxPackageEvents = 1000;

const lockOrder = statement(
  'orders.lock',
  `SELECT ${orderColumns}, package_history FROM orders WHERE id = $1 FOR UPDATE`,
);
const setPackages = statement(
  'orders.set-packages',
  `UPDATE orders SET packages = $2, package_history = $3, status = $4, delivered_at = coalesce($5::timestamptz, delivered_at),
                     tracking_updated_at = CASE WHEN $6 THEN ${nextUpdateTime} ELSE tracking_updated_at END,
                     version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 RETURNING ${orderColumns}`,
);
const saveHistory = statement('orders.save-history', 'UPDATE orders SET package_history = $2 WHERE id = $1');
const cancel = statement(
  'orders.cancel',
  `UPDATE orders SET status = 'cancelled', reason = $2,
                     payment_status = CASE payment_status WHEN 'paid' THEN 'refunded' ELSE payment_status END,
                     refunded_at = CASE payment_status WHEN 'paid' THEN now() END,
                     version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 RETURNING ${orderColumns}`,
);
const markRefundDue = statement(
  'charges.mark-refund-due',
  "UPDATE charges SET status = 'refund_due' WHERE order_id = $1 AND status = 'succeeded'",
);

/**
 * Applies events of the warehouse to an order. Each transition and its message share a transaction.
 * Idempotent.
 */
@Injectable()
export class TransitionOrder {
  constructor(
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Applies one event. Returns the order's UUID.
   * @throws RejectedMessage, OutOfOrderEvent; then nothing was written
   */
  async apply(tx: Transaction, message: Message): Promise<string> {
    const { occurred_at } = message;
    if (messages.fulfilmentShipped.is(message)) {
      const order = await this.lock(tx, message.data.order_id, 'ship');
      const { shipped_at = occurred_at } = message.data;
      const tracking = trackingOf(message.data);
      return this.applyPackageEvent(tx, order, { kind: 'shipped', ...tracking, shipped_at, occurred_at });
    }
    if (messages.fulfilmentTrackingCorrected.is(message)) {
      const order = await this.lock(tx, message.data.order_id, 'correct the tracking of');
      const { replaces_tracking_number: replaces = null } = message.data;
      const tracking = trackingOf(message.data);
      return this.applyPackageEvent(tx, order, { kind: 'corrected', ...tracking, replaces, occurred_at });
    }
    if (messages.fulfilmentDelivered.is(message)) {
      const order = await this.lock(tx, message.data.order_id, 'deliver');
      const { tracking_number = null, delivered_at = occurred_at } = message.data;
      const arrival = { tracking_number, delivered_at, occurred_at };
      return this.applyPackageEvent(tx, order, { kind: 'delivered', ...arrival });
    }
    if (messages.fulfilmentCancelled.is(message)) return this.cancel(tx, message.data);
    throw new RejectedMessage(`${message.type} does not belong to this queue`);
  }

  /** Marks the charge as refund_due and returns the stock, once. */
  private async cancel(
    tx: Transaction,
    event: { readonly order_id: string; readonly reason: string },
  ): Promise<string> {
    const order = await this.lock(tx, event.order_id, 'cancel');
    if (order.status === 'cancelled') return order.id;
    const after = await tx.row<OrderRow>(cancel, [order.id, event.reason]);
    if (after === undefined) throw new Error('A locked order no longer exists.');
    await tx.run(markRefundDue, [order.id]);
    await this.stock.returnStock(tx, order.id);
    const data = { order: await this.snapshot(tx, after), reason: event.reason };
    await this.outbox.add(tx, messages.orderCancelled.make(data, { occurredAt: this.clock() }));
    return order.id;
  }

  /** @throws RejectedMessage, OutOfOrderEvent when the event does not apply to the order */
  private async lock(tx: Transaction, name: string, action: FulfilmentAction): Promise<LockedOrder> {
    const id = parsePublicId('ord', name);
    const order = id === undefined ? undefined : await tx.row<LockedOrder>(lockOrder, [id]);
    if (order === undefined) throw new RejectedMessage(`order ${name.slice(0, 40)} does not exist`);
    const { applies, waits } = fulfilmentEvents[action];
    if (waits.includes(order.status))
      throw new OutOfOrderEvent(order.id, `cannot ${action} an order that is still ${order.status}`);
    if (!applies.includes(order.status))
      throw new RejectedMessage(`cannot ${action} an order that is ${order.status}`);
    return order;
  }

  /**
   * Writes the packages that result from all events, and publishes the change. The first package ships the
   * order, the last arrival delivers it.
   */
  private async applyPackageEvent(tx: Transaction, order: LockedOrder, event: PackageEvent): Promise<string> {
    const known = eventsIn(order.package_history);
    const events = withEvent(known, event);
    if (events === known) return order.id; // a repetition
    if (events.length > maxPackageEvents)
      throw new RejectedMessage('the order has too many fulfilment events');
    const { packages, misplaced } = packagesOf(events);
    const reason = misplaced.get(event);
    if (reason === 'number_taken')
      throw new RejectedMessage('another package of the order has this tracking number');
    if (reason === 'unknown_package')
      throw new OutOfOrderEvent(order.id, 'the order has no such package yet');
    const history = JSON.stringify(storedHistory(events));
    if (isDeepStrictEqual(packages, order.packages)) {
      await tx.run(saveHistory, [order.id, history]);
      return order.id;
    }
    const tracked = !isDeepStrictEqual(packages.map(trackingOf), order.packages.map(trackingOf));
    const status = nextStatus(packages, order.status);
    const kind = messageFor(order.status, status, tracked);
    const after = await tx.row<OrderRow>(setPackages, [
      order.id,
      JSON.stringify(packages),
      history,
      status,
      status === 'delivered' ? lastArrival(packages) : null,
      tracked || kind === messages.orderTrackingUpdated, // each published time is newer than the last
    ]);
    if (after === undefined) throw new Error('A locked order no longer exists.');
    if (kind !== undefined)
      await this.outbox.add(
        tx,
        kind.make({ order: await this.snapshot(tx, after) }, { occurredAt: this.clock() }),
      );
    return order.id;
  }

  private async snapshot(tx: Transaction, row: OrderRow) {
    return orderSnapshot(row, await itemsOf(tx, row.id));
  }
}

function trackingOf({ carrier, tracking_number, tracking_url }: Tracking): Tracking {
  return { carrier, tracking_number, tracking_url };
}

/** Delivered when all packages have arrived; never back to an earlier status. */
function nextStatus(packages: readonly PackageRow[], before: OrderStatus): OrderStatus {
  if (before === 'delivered') return before;
  return packages.every(({ delivered_at }) => delivered_at !== null) ? 'delivered' : 'shipped';
}

/** The latest arrival. */
function lastArrival(packages: readonly PackageRow[]): string | null {
  return packages.reduce<string | null>(
    (last, { delivered_at: at }) =>
      at !== null && (last === null || Date.parse(at) > Date.parse(last)) ? at : last,
    null,
  );
}

/**
 * Partial deliveries publish no message, unless the order is already `delivered`: then
 * `order.tracking_updated` is the only way to report them.
 */
function messageFor(before: OrderStatus, after: OrderStatus, tracked: boolean) {
  if (before === 'processing') return messages.orderShipped;
  if (before !== after) return messages.orderDelivered;
  return tracked || after === 'delivered' ? messages.orderTrackingUpdated : undefined;
}
