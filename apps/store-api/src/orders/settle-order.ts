import { messages, type Message, publicId } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../catalogue/stock.js';
import { IdempotencyKeys, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import type { ChargeOutcome } from '../payments/payment-gateway.js';
import { itemsOf, orderColumns, type OrderRow, orderSnapshot } from './order-row.js';
import { nextUpdateTime } from '../next-update-time.js';

const settle = statement(
  'orders.settle',
  `UPDATE orders SET status = $2, payment_status = $3, charged_at = $4, reason = $5, resume_at = NULL,
                     version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND status = 'pending'
   RETURNING ${orderColumns}`,
);
const settleCharge = statement(
  'charges.settle',
  'UPDATE charges SET status = $2, settled_at = now() WHERE id = $1',
);
const readStatus = statement('orders.status', 'SELECT status FROM orders WHERE id = $1');

/**
 * The last phase of placing an order: what the provider said becomes the order's state, in one commit with the stock given
 * back on failure, the event and the remembered answer. The request, the completer and a late provider all come here; one wins.
 */
@Injectable()
export class SettleOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The answer to the caller, whoever settled the order. */
  async run(orderId: string, chargeId: string, outcome: ChargeOutcome): Promise<RememberedResponse> {
    return this.database.transaction(async (tx) => {
      const paid = outcome.status === 'succeeded';
      const order = await tx.row<OrderRow>(settle, [
        orderId,
        paid ? 'processing' : 'payment_failed',
        paid ? 'paid' : 'failed',
        paid ? outcome.at : null,
        paid ? null : outcome.reason,
      ]);
      if (order === undefined) return this.settledByAnother(tx, orderId);

      await tx.run(settleCharge, [chargeId, outcome.status]);
      if (!paid) await this.stock.giveBack(tx, orderId);
      await this.outbox.add(tx, await this.event(tx, order));
      const response = { id: publicId('ord', orderId), status: order.status };
      await this.keys.remember(tx, orderId, response);
      return response;
    });
  }

  private async event(tx: Transaction, row: OrderRow): Promise<Message> {
    const order = orderSnapshot(row, await itemsOf(tx, row.id));
    const occurredAt = this.clock();
    if (row.status === 'processing') return messages.orderProcessing.make({ order }, { occurredAt });
    return messages.orderPaymentFailed.make({ order, reason: row.reason ?? 'declined' }, { occurredAt });
  }

  private async settledByAnother(tx: Transaction, orderId: string): Promise<RememberedResponse> {
    const row = await tx.row<Pick<RememberedResponse, 'status'>>(readStatus, [orderId]);
    return { id: publicId('ord', orderId), status: row?.status ?? 'pending' };
  }
}
