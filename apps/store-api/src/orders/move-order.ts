import { messages, type Message, type OrderStatus, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Outbox, RefusedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Stock } from '../catalogue/stock.js';
import { itemsOf, orderColumns, type OrderRow, orderSnapshot, type PackageRow } from './order-row.js';
import { EarlyReport } from './early-report.js';
import { mayMove } from './order.rules.js';
import { type PackageHistory, reportsIn } from './package-history.js';
import { type PackageReport, packagesOf, withReport } from './package.rules.js';
import { nextUpdateTime } from '../next-update-time.js';

interface Tracking {
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
}

/** Beside its columns, what was reported of its packages. */
interface LockedOrder extends OrderRow {
  package_history: PackageHistory;
}

/** Most reports of packages that an order remembers. */
const mostReports = 1000;

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
const rememberHistory = statement(
  'orders.remember-history',
  'UPDATE orders SET package_history = $2 WHERE id = $1',
);
const cancel = statement(
  'orders.cancel',
  `UPDATE orders SET status = 'cancelled', reason = $2,
                     payment_status = CASE payment_status WHEN 'paid' THEN 'refunded' ELSE payment_status END,
                     refunded_at = CASE payment_status WHEN 'paid' THEN now() END,
                     version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND status IN ('processing', 'payment_failed') RETURNING ${orderColumns}`,
);
const oweRefund = statement(
  'charges.owe-refund',
  "UPDATE charges SET status = 'refund_due' WHERE order_id = $1 AND status = 'succeeded'",
);

/** What the warehouse reports of an order. Each move happens in one transaction with its event; said twice, it happens once. */
@Injectable()
export class MoveOrder {
  constructor(
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** A package was handed over: the first one ships the order. Answers the order's UUID. @throws RefusedMessage, EarlyReport */
  async ship(
    tx: Transaction,
    report: Tracking & { readonly order_id: string; readonly shipped_at?: string | undefined },
    occurredAt: string,
  ): Promise<string> {
    const order = await this.lock(tx, report.order_id);
    if (order.status === 'pending') throw early(order, 'ship');
    if (order.packages.length === 0 && !mayMove(order.status, 'shipped')) throw refusal(order, 'ship');
    const { shipped_at = occurredAt } = report;
    return this.take(tx, order, { kind: 'shipped', ...trackingOf(report), shipped_at, told_at: occurredAt });
  }

  /** The tracking of a package was wrong. Answers the order's UUID. @throws RefusedMessage, EarlyReport */
  async correctTracking(
    tx: Transaction,
    report: Tracking & { readonly order_id: string; readonly replaces_tracking_number?: string | undefined },
    occurredAt: string,
  ): Promise<string> {
    const order = await this.lock(tx, report.order_id);
    if (order.status === 'payment_failed' || order.status === 'cancelled')
      throw refusal(order, 'correct the tracking of');
    const { replaces_tracking_number: replaces = null } = report;
    return this.take(tx, order, { kind: 'corrected', ...trackingOf(report), replaces, told_at: occurredAt });
  }

  /** A package arrived, or all of them: the last one delivers the order. Answers the order's UUID. @throws RefusedMessage, EarlyReport */
  async deliver(
    tx: Transaction,
    report: {
      readonly order_id: string;
      readonly tracking_number?: string | undefined;
      readonly delivered_at?: string | undefined;
    },
    occurredAt: string,
  ): Promise<string> {
    const order = await this.lock(tx, report.order_id);
    if (order.status === 'pending' || order.status === 'processing') throw early(order, 'deliver');
    if (order.status !== 'shipped' && order.status !== 'delivered') throw refusal(order, 'deliver');
    const { tracking_number = null, delivered_at = occurredAt } = report;
    return this.take(tx, order, { kind: 'delivered', tracking_number, delivered_at, told_at: occurredAt });
  }

  /**
   * The order will not be made: the money is owed back and the stock returns, once. Answers the order's UUID.
   * @throws RefusedMessage, EarlyReport
   */
  async cancel(
    tx: Transaction,
    report: { readonly order_id: string; readonly reason: string },
  ): Promise<string> {
    const order = await this.lock(tx, report.order_id);
    if (order.status === 'cancelled') return order.id;
    if (order.status === 'pending') throw early(order, 'cancel');
    if (!mayMove(order.status, 'cancelled')) throw refusal(order, 'cancel');
    const after = await tx.row<OrderRow>(cancel, [order.id, report.reason]);
    if (after === undefined) throw new Error('A locked order changed its status.');
    await tx.run(oweRefund, [order.id]);
    await this.stock.giveBack(tx, order.id);
    const facts = { order: await this.snapshot(tx, after), reason: report.reason };
    await this.tell(tx, messages.orderCancelled.make(facts, { occurredAt: this.clock() }));
    return order.id;
  }

  private async lock(tx: Transaction, name: string): Promise<LockedOrder> {
    const id = parsePublicId('ord', name);
    const order = id === undefined ? undefined : await tx.row<LockedOrder>(lockOrder, [id]);
    if (order === undefined) throw new RefusedMessage(`there is no order ${name.slice(0, 40)}`);
    return order;
  }

  /** Writes what the reports make of the packages, and tells what has changed: the first package ships the order, the last to arrive delivers it. */
  private async take(tx: Transaction, order: LockedOrder, report: PackageReport): Promise<string> {
    const known = reportsIn(order.package_history, order.packages);
    const reports = withReport(known, report);
    if (reports === known) return order.id; // said before
    if (reports.length > mostReports) throw new RefusedMessage('the order has too many reports');
    const { packages, misplaced } = packagesOf(reports);
    const why = misplaced.get(report);
    if (why === 'number_taken') throw new RefusedMessage('another package has this tracking number');
    if (why === 'unknown_package') throw new EarlyReport(order.id, 'the order has no such package yet');
    const history = JSON.stringify(reports);
    if (isDeepStrictEqual(packages, order.packages)) {
      await tx.run(rememberHistory, [order.id, history]);
      return order.id;
    }
    const tracked = !isDeepStrictEqual(packages.map(trackingOf), order.packages.map(trackingOf));
    const status = statusWith(packages, order.status);
    const kind = eventOf(order.status, status, tracked);
    const after = await tx.row<OrderRow>(setPackages, [
      order.id,
      JSON.stringify(packages),
      history,
      status,
      status === 'delivered' ? lastArrival(packages) : null,
      tracked || kind === messages.orderTrackingUpdated, // each published tracking is newer than the one before
    ]);
    if (after === undefined) throw new Error('A locked order is gone.');
    if (kind !== undefined)
      await this.tell(tx, kind.make({ order: await this.snapshot(tx, after) }, { occurredAt: this.clock() }));
    return order.id;
  }

  private async snapshot(tx: Transaction, row: OrderRow) {
    return orderSnapshot(row, await itemsOf(tx, row.id));
  }

  private tell(tx: Transaction, message: Message): Promise<void> {
    return this.outbox.add(tx, message);
  }
}

function trackingOf({ carrier, tracking_number, tracking_url }: Tracking): Tracking {
  return { carrier, tracking_number, tracking_url };
}

/** Delivered when all have arrived; a status never goes back. */
function statusWith(packages: readonly PackageRow[], before: OrderStatus): OrderStatus {
  if (before === 'delivered') return before;
  return packages.every(({ delivered_at }) => delivered_at !== null) ? 'delivered' : 'shipped';
}

/** When the last of those that have arrived did. */
function lastArrival(packages: readonly PackageRow[]): string | null {
  return packages.reduce<string | null>(
    (last, { delivered_at: at }) =>
      at !== null && (last === null || Date.parse(at) > Date.parse(last)) ? at : last,
    null,
  );
}

/** A part of an order that arrives is no event of its own, until the order was delivered: nothing else would tell it then. */
function eventOf(before: OrderStatus, after: OrderStatus, tracked: boolean) {
  if (before === 'processing') return messages.orderShipped;
  if (before !== after) return messages.orderDelivered;
  return tracked || after === 'delivered' ? messages.orderTrackingUpdated : undefined;
}

function refusal({ status }: OrderRow, what: string): RefusedMessage {
  return new RefusedMessage(`cannot ${what} an order that is ${status}`);
}

function early({ id, status }: OrderRow, what: string): EarlyReport {
  return new EarlyReport(id, `cannot ${what} an order that is still ${status}`);
}
