import { messages, type Message, type OrderStatus, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Outbox, RefusedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../catalogue/stock.js';
import { itemsOf, orderColumns, type OrderRow, orderSnapshot, type PackageRow } from './order-row.js';
import { EarlyReport } from './early-report.js';
import { mayMove } from './order.rules.js';
import { goesBy, type KnownPackage, withCorrection, withPackage } from './package.rules.js';
import { nextUpdateTime } from '../next-update-time.js';

export interface PackageReport {
  readonly order_id: string;
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
}

/** Beside its columns, what is remembered of each of its packages. */
interface LockedOrder extends OrderRow {
  package_history: { former_numbers: string[]; told_at: string }[];
}

const lockOrder = statement(
  'orders.lock',
  `SELECT ${orderColumns}, package_history FROM orders WHERE id = $1 FOR UPDATE`,
);
const setPackages = statement(
  'orders.set-packages',
  `UPDATE orders SET packages = $2, package_history = $5, status = $3, tracking_updated_at = ${nextUpdateTime}, version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND status = $4 RETURNING ${orderColumns}`,
);
const rememberHistory = statement(
  'orders.remember-history',
  'UPDATE orders SET package_history = $2 WHERE id = $1',
);
const setDelivered = statement(
  'orders.set-delivered',
  `UPDATE orders SET packages = $2, status = $3, delivered_at = CASE WHEN $3 = 'delivered' THEN $4::timestamptz END,
                     version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND status = 'shipped' RETURNING ${orderColumns}`,
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
  "UPDATE charges SET status = 'refund_due', settled_at = now() WHERE order_id = $1 AND status = 'succeeded'",
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
    report: PackageReport & { readonly shipped_at?: string | undefined },
    occurredAt: string,
  ): Promise<string> {
    const order = await this.lock(tx, report.order_id);
    const parcel: PackageRow = {
      carrier: report.carrier,
      tracking_number: report.tracking_number,
      tracking_url: report.tracking_url,
      shipped_at: report.shipped_at ?? occurredAt,
      delivered_at: null,
    };
    const packages = withPackage(knownPackages(order), parcel, occurredAt);
    if (packages === undefined) return order.id; // said before
    if (order.status === 'pending') throw early(order, 'ship');
    const delivered = order.delivered_at;
    const arrived = delivered !== null && Date.parse(parcel.shipped_at) <= delivered.getTime();
    if (order.status !== 'shipped' && !arrived && !mayMove(order.status, 'shipped'))
      throw refusal(order, 'ship');
    if (!arrived) await this.keepPackages(tx, order, packages, 'shipped');
    else await this.keepPackages(tx, order, arrivedWith(packages, delivered), order.status); // it came with the others
    return order.id;
  }

  /** The tracking of a package was wrong. Answers the order's UUID. @throws RefusedMessage, EarlyReport */
  async correctTracking(
    tx: Transaction,
    report: PackageReport & { readonly replaces_tracking_number?: string | undefined },
    occurredAt: string,
  ): Promise<string> {
    const order = await this.lock(tx, report.order_id);
    const { carrier, tracking_number, tracking_url, replaces_tracking_number: replaces } = report;
    const tracking = { carrier, tracking_number, tracking_url };
    const corrected = withCorrection(knownPackages(order), tracking, replaces, occurredAt);
    if (corrected === 'unchanged') return order.id;
    if (corrected === 'number_taken') throw new RefusedMessage('another package has this tracking number');
    if (corrected === 'unknown_package') {
      if (order.status === 'payment_failed' || order.status === 'cancelled')
        throw refusal(order, 'correct the tracking of');
      throw new EarlyReport(order.id, 'the order has no such package yet');
    }
    if (corrected.visible) await this.keepPackages(tx, order, corrected.packages, order.status);
    else await tx.run(rememberHistory, [order.id, historyOf(corrected.packages)]);
    return order.id;
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
    if (order.status === 'delivered') return order.id;
    if (order.status === 'pending' || order.status === 'processing') throw early(order, 'deliver');
    if (order.status !== 'shipped') throw refusal(order, 'deliver');
    const { tracking_number: only } = report;
    const known = knownPackages(order);
    const arriving = known.filter((parcel) => only === undefined || goesBy(parcel, only));
    if (arriving.length === 0) throw new EarlyReport(order.id, 'the order has no such package yet');
    const deliveredAt = report.delivered_at ?? occurredAt;
    const packages = known.map((one) =>
      arriving.includes(one)
        ? { ...one.parcel, delivered_at: one.parcel.delivered_at ?? deliveredAt }
        : one.parcel,
    );
    const all = packages.every((parcel) => parcel.delivered_at !== null);
    const status: OrderStatus = all ? 'delivered' : 'shipped';
    const after = await tx.row<OrderRow>(setDelivered, [
      order.id,
      JSON.stringify(packages),
      status,
      deliveredAt,
    ]);
    if (after !== undefined && all) {
      const facts = { order: await this.snapshot(tx, after) };
      await this.tell(tx, messages.orderDelivered.make(facts, { occurredAt: this.clock() }));
    }
    return order.id;
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

  /** Writes the packages and tells of them: the first one ships the order. */
  private async keepPackages(
    tx: Transaction,
    order: LockedOrder,
    packages: readonly KnownPackage[],
    status: OrderStatus,
  ): Promise<void> {
    const after = await tx.row<OrderRow>(setPackages, [
      order.id,
      JSON.stringify(packages.map(({ parcel }) => parcel)),
      status,
      order.status,
      historyOf(packages),
    ]);
    if (after === undefined) throw new Error('A locked order changed its status.');
    const kind = order.status === status ? messages.orderTrackingUpdated : messages.orderShipped;
    await this.tell(tx, kind.make({ order: await this.snapshot(tx, after) }, { occurredAt: this.clock() }));
  }

  private async snapshot(tx: Transaction, row: OrderRow) {
    return orderSnapshot(row, await itemsOf(tx, row.id));
  }

  private tell(tx: Transaction, message: Message): Promise<void> {
    return this.outbox.add(tx, message);
  }
}

/** Packages from before their history was kept have none. */
function knownPackages({ packages, package_history }: LockedOrder): KnownPackage[] {
  return packages.map((parcel, index) => ({
    parcel,
    formerNumbers: package_history[index]?.former_numbers ?? [],
    toldAt: package_history[index]?.told_at ?? parcel.shipped_at,
  }));
}

function historyOf(packages: readonly KnownPackage[]): string {
  return JSON.stringify(
    packages.map(({ formerNumbers, toldAt }) => ({ former_numbers: formerNumbers, told_at: toldAt })),
  );
}

function arrivedWith(packages: readonly KnownPackage[], deliveredAt: Date): KnownPackage[] {
  const delivered_at = deliveredAt.toISOString();
  return packages.map((one) => ({
    ...one,
    parcel: { ...one.parcel, delivered_at: one.parcel.delivered_at ?? delivered_at },
  }));
}

function refusal({ status }: OrderRow, what: string): RefusedMessage {
  return new RefusedMessage(`cannot ${what} an order that is ${status}`);
}

function early({ id, status }: OrderRow, what: string): EarlyReport {
  return new EarlyReport(id, `cannot ${what} an order that is still ${status}`);
}
