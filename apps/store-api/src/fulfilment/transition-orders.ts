import { messages, type Message } from '@fulfilment/contracts';
import { pipelined, statement, type Transaction, qualifyColumns } from '@fulfilment/database';
import { CLOCK, type Clock, traceparentOfEffect } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CancelLockedOrder } from '../orders/cancelling/cancel-locked-order.js';
import {
  type ItemRow,
  readItemsOfOrders,
  orderColumns,
  type OrderRow,
  orderSnapshot,
} from '../orders/order-row.js';
import { nextUpdateTimeSql } from '../next-update-time.js';
import type { OrderChange, PackagesChange } from './order-events.js';
import type { PackageEvent } from './package.rules.js';

const lockOrders = statement(
  'orders.lock',
  `SELECT ${orderColumns}, package_history FROM orders WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`,
);
// A time of arrival in the future counts as now, since the retention of the address starts with it.
const setPackages = statement(
  'orders.set-packages',
  `UPDATE orders SET packages = new.packages, package_history = new.history, status = new.status,
                     delivered_at = coalesce(CASE WHEN new.delivered_at > now() THEN now() ELSE new.delivered_at END, orders.delivered_at),
                     tracking_updated_at = CASE WHEN new.updates_tracking_time THEN ${nextUpdateTimeSql} ELSE tracking_updated_at END,
                     version = version + 1, updated_at = ${nextUpdateTimeSql}
   FROM unnest($1::uuid[], $2::jsonb[], $3::jsonb[], $4::text[], $5::timestamptz[], $6::boolean[])
        AS new (order_id, packages, history, status, delivered_at, updates_tracking_time)
   WHERE orders.id = new.order_id RETURNING ${qualifyColumns('orders', orderColumns)}`,
);
const saveHistory = statement('orders.save-history', 'UPDATE orders SET package_history = $2 WHERE id = $1');

/** An order whose row the transaction has locked. `apply` keeps `row` and `history` up to date. */
export interface LockedOrder {
  row: OrderRow;
  history: readonly PackageEvent[];
  readonly items: readonly ItemRow[];
}

/** A change of a locked order, and the message that caused it. */
export interface Transition<Change extends OrderChange = OrderChange> {
  readonly order: LockedOrder;
  readonly change: Change;
  readonly cause: Message;
}

/**
 * Writes the changes that fulfilment events make to orders. One statement writes the packages of all orders;
 * other changes take at least one statement per order.
 */
@Injectable()
export class TransitionOrders {
  constructor(
    private readonly cancelLocked: CancelLockedOrder,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Locks the orders that exist, in the order of their ids. Returns them by id. */
  async lock(tx: Transaction, ids: readonly string[]): Promise<Map<string, LockedOrder>> {
    const [rows, items] = await pipelined([
      tx.rows<OrderRow & { package_history: readonly PackageEvent[] }>(lockOrders, [ids]),
      readItemsOfOrders(tx, ids),
    ]);
    return new Map(
      rows.map(({ package_history: history, ...row }) => [
        row.id,
        { row, history, items: items.get(row.id) ?? [] },
      ]),
    );
  }

  /**
   * Applies one change to each of several orders.
   * @returns the messages to publish in the same transaction
   */
  async apply(tx: Transaction, transitions: readonly Transition[]): Promise<Message[]> {
    const outgoing: Message[] = [];
    const withPackages: Transition<PackagesChange>[] = [];
    for (const { order, change, cause } of transitions) {
      if (change.kind === 'packages') withPackages.push({ order, change, cause });
      if (change.kind === 'history') {
        await tx.run(saveHistory, [order.row.id, JSON.stringify(change.history)]);
        order.history = change.history;
      }
      if (change.kind === 'cancel') outgoing.push(await this.cancel(tx, order, change.reason, cause));
    }
    return [...outgoing, ...(await this.setPackages(tx, withPackages))];
  }

  private async setPackages(
    tx: Transaction,
    transitions: readonly Transition<PackagesChange>[],
  ): Promise<Message[]> {
    if (transitions.length === 0) return [];
    const changes = transitions.map(({ change }) => change);
    const rows = await tx.rows<OrderRow>(setPackages, [
      transitions.map(({ order }) => order.row.id),
      changes.map(({ packages }) => JSON.stringify(packages)),
      changes.map(({ history }) => JSON.stringify(history)),
      changes.map(({ status }) => status),
      changes.map(({ deliveredAt }) => deliveredAt),
      changes.map(({ updatesTrackingTime }) => updatesTrackingTime),
    ]);
    const after = new Map(rows.map((row) => [row.id, row]));
    return transitions.flatMap(({ order, change, cause }) => {
      const row = after.get(order.row.id);
      if (row === undefined) throw new Error('A locked order no longer exists.');
      order.row = row;
      order.history = change.history;
      const { messageType } = change;
      if (messageType === undefined) return [];
      return messageType.make({ order: orderSnapshot(row, order.items) }, this.messageOptions(cause));
    });
  }

  private async cancel(
    tx: Transaction,
    order: LockedOrder,
    reason: string,
    cause: Message,
  ): Promise<Message> {
    const cancelled_by = cause.operator === undefined ? 'warehouse' : 'operator';
    const { row, data } = await this.cancelLocked.run(tx, order.row.id, order.items, {
      reason,
      cancelled_by,
    });
    order.row = row;
    return messages.orderCancelled.make(data, this.messageOptions(cause));
  }

  /** Returns the options of a message that `cause` leads to: it is part of the same trace. */
  private messageOptions({ id, traceparent }: Message) {
    return { occurredAt: this.clock(), traceparent: traceparentOfEffect(traceparent, id) };
  }
}
