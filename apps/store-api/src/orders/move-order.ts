import { messages, type Message, type OrderStatus, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Outbox, RefusedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../catalogue/stock.js';
import { itemsOf, orderColumns, type OrderRow, orderSnapshot, type PackageRow } from './order-row.js';
import { mayMove } from './order.rules.js';
import { nextUpdateTime } from '../next-update-time.js';

export interface PackageReport {
  readonly order_id: string;
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
}

const lockOrder = statement('orders.lock', `SELECT ${orderColumns} FROM orders WHERE id = $1 FOR UPDATE`);
const setPackages = statement(
  'orders.set-packages',
  `UPDATE orders SET packages = $2, status = $3, tracking_updated_at = ${nextUpdateTime}, version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND status = $4 RETURNING ${orderColumns}`,
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

  /** A package was handed over: the first one ships the order. @throws RefusedMessage */
  async ship(
    tx: Transaction,
    report: PackageReport & { readonly shipped_at?: string | undefined },
  ): Promise<void> {
    const order = await this.lock(tx, report.order_id);
    if (order.packages.some((known) => known.tracking_number === report.tracking_number)) return;
    if (order.status !== 'shipped' && !mayMove(order.status, 'shipped')) throw refusal(order.status, 'ship');
    const parcel: PackageRow = {
      carrier: report.carrier,
      tracking_number: report.tracking_number,
      tracking_url: report.tracking_url,
      shipped_at: report.shipped_at ?? this.clock().toISOString(),
      delivered_at: null,
    };
    const after = await this.keepPackages(tx, order, [...order.packages, parcel], 'shipped');
    const kind = order.status === 'shipped' ? messages.orderTrackingUpdated : messages.orderShipped;
    await this.tell(tx, kind.make({ order: await this.snapshot(tx, after) }, { occurredAt: this.clock() }));
  }

  /** The tracking of the newest package, or of the one named, was wrong. @throws RefusedMessage */
  async correctTracking(
    tx: Transaction,
    report: PackageReport & { readonly replaces_tracking_number?: string | undefined },
  ): Promise<void> {
    const order = await this.lock(tx, report.order_id);
    const replaced = report.replaces_tracking_number ?? order.packages.at(-1)?.tracking_number;
    if (replaced === undefined) throw refusal(order.status, 'correct the tracking of');
    const known = order.packages.find((parcel) => parcel.tracking_number === replaced);
    if (known === undefined && order.packages.some((parcel) => samePackage(parcel, report))) return; // said before
    if (known === undefined) throw new RefusedMessage('the order has no package of this tracking number');
    const { carrier, tracking_number, tracking_url } = report;
    const corrected = { ...known, carrier, tracking_number, tracking_url };
    if (samePackage(known, corrected)) return;
    const packages = order.packages.map((parcel) => (parcel === known ? corrected : parcel));
    const after = await this.keepPackages(tx, order, packages, order.status);
    const occurredAt = this.clock();
    await this.tell(
      tx,
      messages.orderTrackingUpdated.make({ order: await this.snapshot(tx, after) }, { occurredAt }),
    );
  }

  /** A package arrived, or all of them. The last one delivers the order. @throws RefusedMessage */
  async deliver(
    tx: Transaction,
    report: {
      readonly order_id: string;
      readonly tracking_number?: string | undefined;
      readonly delivered_at?: string | undefined;
    },
  ): Promise<void> {
    const order = await this.lock(tx, report.order_id);
    if (order.status === 'delivered') return;
    if (order.status !== 'shipped') throw refusal(order.status, 'deliver');
    const { tracking_number: only } = report;
    if (only !== undefined && !order.packages.some((parcel) => parcel.tracking_number === only)) {
      throw new RefusedMessage('the order has no package of this tracking number');
    }
    const deliveredAt = report.delivered_at ?? this.clock().toISOString();
    const packages = order.packages.map((parcel) =>
      only === undefined || parcel.tracking_number === only
        ? { ...parcel, delivered_at: parcel.delivered_at ?? deliveredAt }
        : parcel,
    );
    const all = packages.every((parcel) => parcel.delivered_at !== null);
    const status: OrderStatus = all ? 'delivered' : 'shipped';
    const after = await tx.row<OrderRow>(setDelivered, [
      order.id,
      JSON.stringify(packages),
      status,
      deliveredAt,
    ]);
    if (after === undefined || !all) return;
    await this.tell(
      tx,
      messages.orderDelivered.make({ order: await this.snapshot(tx, after) }, { occurredAt: this.clock() }),
    );
  }

  /** The order will not be made: the money is owed back and the stock returns, once. @throws RefusedMessage */
  async cancel(
    tx: Transaction,
    report: { readonly order_id: string; readonly reason: string },
  ): Promise<void> {
    const order = await this.lock(tx, report.order_id);
    if (order.status === 'cancelled') return;
    if (!mayMove(order.status, 'cancelled')) throw refusal(order.status, 'cancel');
    const after = await tx.row<OrderRow>(cancel, [order.id, report.reason]);
    if (after === undefined) throw refusal(order.status, 'cancel');
    await tx.run(oweRefund, [order.id]);
    await this.stock.giveBack(tx, order.id);
    const facts = { order: await this.snapshot(tx, after), reason: report.reason };
    await this.tell(tx, messages.orderCancelled.make(facts, { occurredAt: this.clock() }));
  }

  private async lock(tx: Transaction, name: string): Promise<OrderRow> {
    const id = parsePublicId('ord', name);
    const order = id === undefined ? undefined : await tx.row<OrderRow>(lockOrder, [id]);
    if (order === undefined) throw new RefusedMessage(`there is no order ${name.slice(0, 40)}`);
    return order;
  }

  private async keepPackages(
    tx: Transaction,
    order: OrderRow,
    packages: readonly PackageRow[],
    status: OrderStatus,
  ): Promise<OrderRow> {
    const after = await tx.row<OrderRow>(setPackages, [
      order.id,
      JSON.stringify(packages),
      status,
      order.status,
    ]);
    if (after === undefined) throw new Error('A locked order changed its status.');
    return after;
  }

  private async snapshot(tx: Transaction, row: OrderRow) {
    return orderSnapshot(row, await itemsOf(tx, row.id));
  }

  private tell(tx: Transaction, message: Message): Promise<void> {
    return this.outbox.add(tx, message);
  }
}

type PackageTracking = Pick<PackageRow, 'carrier' | 'tracking_number' | 'tracking_url'>;

function samePackage(one: PackageTracking, other: PackageTracking): boolean {
  return (
    one.carrier === other.carrier &&
    one.tracking_number === other.tracking_number &&
    one.tracking_url === other.tracking_url
  );
}

function refusal(status: OrderStatus, what: string): RefusedMessage {
  return new RefusedMessage(`cannot ${what} an order that is ${status}`);
}
