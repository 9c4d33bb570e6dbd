import { messages, type Message, publicId } from '@fulfilment/contracts';
import { Database, type Sql, statement, together } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../catalogue/stock.js';
import { IdempotencyKeys, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import type { ChargeOutcome } from '../payments/payment-gateway.js';
import { FaultPoints } from './fault-points.js';
import { type ItemRow, itemsOf, orderColumns, type OrderRow, orderSnapshot } from './order-row.js';
import { nextUpdateTime } from '../next-update-time.js';

// The charge row decides who wins: it gets its outcome once. The order's columns are null when it had moved on meanwhile.
// A provider that tells time in whole seconds, or by another clock, charged no earlier than it was asked.
const settle = statement(
  'orders.settle',
  `WITH charge AS (
     UPDATE charges SET status = $2, provider_reference = coalesce($3, provider_reference), settled_at = now()
     WHERE id = $1 AND status = 'pending' RETURNING order_id, created_at AS begun_at
   ), moved AS (
     UPDATE orders SET status = $4, payment_status = $5, reason = $7, resume_at = NULL,
                       charged_at = CASE WHEN $6::timestamptz IS NOT NULL THEN greatest($6, charge.begun_at) END,
                       version = version + 1, updated_at = ${nextUpdateTime}
     FROM charge WHERE orders.id = charge.order_id
       AND (orders.status = 'pending' OR (orders.status = 'payment_failed' AND $4 = 'processing'))
     RETURNING ${orderColumns}
   )
   SELECT moved.* FROM charge LEFT JOIN moved ON true`,
);
const forgetResuming = statement(
  'orders.forget-resuming',
  'UPDATE orders SET resume_at = NULL WHERE id = $1',
);
const oweLateCharge = statement(
  'charges.owe-late',
  "UPDATE charges SET status = 'refund_due' WHERE id = $1 AND status = 'succeeded'",
);
// Two askers heard different things, as when what was refused once was mended before it was asked for again.
const oweContradicted = statement(
  'charges.owe-contradicted',
  `UPDATE charges SET status = 'refund_due', provider_reference = coalesce($2, provider_reference)
   WHERE id = $1 AND status = 'declined'`,
);
const readStatus = statement('orders.status', 'SELECT status FROM orders WHERE id = $1');

type SettledRow = OrderRow | { readonly id: null };

/**
 * The last phase of charging an order: what the provider said becomes the order's state, in one commit with the stock given
 * back on failure, the event and the remembered answer. The request, the completer and a late provider all come here; one wins.
 */
@Injectable()
export class SettleOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The same on another connection pool. */
  withDatabase(database: Database): SettleOrder {
    const keys = new IdempotencyKeys(database);
    return new SettleOrder(database, keys, this.stock, this.outbox, this.faultPoints, this.clock);
  }

  /** The answer to the caller, whoever settled the order. */
  async run(orderId: string, chargeId: string, outcome: ChargeOutcome): Promise<RememberedResponse> {
    const response = await this.database.transaction(async (tx) => {
      const paid = outcome.status === 'succeeded';
      const settling = tx.row<SettledRow>(settle, [
        chargeId,
        outcome.status,
        outcome.reference,
        paid ? 'processing' : 'payment_failed',
        paid ? 'paid' : 'failed',
        paid ? outcome.at : null,
        paid ? null : outcome.reason,
      ]);
      const [order, items] = await together([settling, itemsOf(tx, orderId)]);
      if (order === undefined) {
        if (paid) await tx.run(oweContradicted, [chargeId, outcome.reference]);
        return this.asItStands(orderId, tx);
      }
      if (order.id === null) await tx.run(forgetResuming, [orderId]); // locks the order before its products, as all do
      if (!paid) await this.stock.giveBack(tx, orderId);
      if (order.id === null) {
        // Charged again and declined again: nothing moved. Or cancelled meanwhile: no order is made for the money that came.
        if (paid) await tx.run(oweLateCharge, [chargeId]);
        return this.asItStands(orderId, tx);
      }
      const settled: RememberedResponse = { id: publicId('ord', orderId), status: order.status };
      tx.endWith(this.outbox.add(tx, this.event(order, items)), this.keys.remember(tx, orderId, settled));
      this.faultPoints.pass('order-settled-uncommitted');
      return settled;
    });
    this.faultPoints.pass('order-settled');
    return response;
  }

  /** The answer to a caller whose order somebody else has settled. */
  async asItStands(orderId: string, sql: Sql = this.database): Promise<RememberedResponse> {
    const row = await sql.row<Pick<RememberedResponse, 'status'>>(readStatus, [orderId]);
    return { id: publicId('ord', orderId), status: row?.status ?? 'pending' };
  }

  private event(row: OrderRow, items: readonly ItemRow[]): Message {
    const order = orderSnapshot(row, items);
    const occurredAt = this.clock();
    if (row.status === 'processing') return messages.orderProcessing.make({ order }, { occurredAt });
    return messages.orderPaymentFailed.make({ order, reason: row.reason ?? 'declined' }, { occurredAt });
  }
}
