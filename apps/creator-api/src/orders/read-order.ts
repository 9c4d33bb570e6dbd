import { statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { Visibility } from '../visibility/visibility.js';
import { itemColumns, orderColumns } from './order-columns.sql.js';
import type { OrderDetail } from './order.shapes.js';
import { type ItemColumns, type OrderColumns, orderDetail } from './order.view.js';

const readOrder = statement('orders.read', `SELECT ${orderColumns} FROM orders WHERE id = $1`);
const readItems = statement(
  'orders.items',
  `SELECT ${itemColumns} FROM order_items WHERE order_id = $1 ORDER BY position`,
);

/** Returns an order with its lines, VAT and royalties. */
@Injectable()
export class ReadOrder {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the order is not visible to the caller */
  run(caller: Caller, orderId: string): Promise<OrderDetail> {
    return this.visibility.snapshot(caller, async (tx) => {
      const order = (await tx.row<OrderColumns>(readOrder, [orderId])) ?? throwNotFound('order');
      return orderDetail(order, await tx.rows<ItemColumns>(readItems, [orderId]));
    });
  }
}
