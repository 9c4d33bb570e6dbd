import { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { Stock } from '../../catalogue/stock/stock.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';
import { type ItemRow, orderColumns, type OrderRow, orderSnapshot } from '../order-row.js';

/** The data of `order.cancelled`. */
type CancelledData = z.input<(typeof messages.orderCancelled)['schema']>;

// A charge that is still pending is left to the completer. If it succeeds, it is refunded, and the order
// shows neither the charge nor the refund: its payment stays `failed`.
const cancel = statement(
  'orders.cancel',
  `UPDATE orders SET status = 'cancelled',
                     payment_status = CASE payment_status WHEN 'paid' THEN 'refunded'
                                                          WHEN 'pending' THEN 'failed'
                                                          ELSE payment_status END,
                     refunded_at = CASE payment_status WHEN 'paid' THEN now() END,
                     version = version + 1, updated_at = ${nextUpdateTimeSql}
   WHERE id = $1 RETURNING ${orderColumns}`,
);
const markRefundDue = statement(
  'charges.mark-refund-due',
  "UPDATE charges SET status = 'refund_due' WHERE order_id = $1 AND status = 'succeeded'",
);

/** Cancels an order for the merchant, an operator or the warehouse. */
@Injectable()
export class CancelLockedOrder {
  constructor(private readonly stock: Stock) {}

  /**
   * Cancels an order whose row the transaction has locked: makes its paid charge due for a refund, and
   * returns its stock.
   * @returns the changed row, and the data of the message to publish in the same transaction
   */
  async run(
    tx: Transaction,
    orderId: string,
    items: readonly ItemRow[],
    cancellation: Omit<CancelledData, 'order'>,
  ): Promise<{ readonly row: OrderRow; readonly data: CancelledData }> {
    const row = await tx.row<OrderRow>(cancel, [orderId]);
    if (row === undefined) throw new Error('A locked order no longer exists.');
    await tx.run(markRefundDue, [orderId]);
    await this.stock.returnStock(tx, orderId);
    return { row, data: { order: orderSnapshot(row, items), ...cancellation } };
  }
}
