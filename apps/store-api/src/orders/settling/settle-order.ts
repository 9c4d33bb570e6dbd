import { messages, type Message, type OrderSnapshot, publicId } from '@fulfilment/contracts';
import { Database, type Sql, statement, pipelined } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../../catalogue/stock/stock.js';
import { IdempotencyKeys, type StoredResponse } from '../idempotency-keys.js';
import type { ChargeOutcome, OpenCharge } from '../../payments/payment-gateway.js';
import { FaultPoints } from '../../fault-points.js';
import type { NewOrder } from '../placing/new-order.js';
import { statusesBefore } from '../order.rules.js';
import { readItems, orderColumns, type OrderRow, orderSnapshot } from '../order-row.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';
import { SettleUnchanged } from './settle-unchanged.js';

const settleCharge = statement(
  'orders.settle',
  `WITH
   -- Serialises concurrent callers, so a charge gets its outcome once.
   charge AS (
     UPDATE charges SET status = :charge_status, provider_reference = coalesce(:reference, provider_reference), settled_at = now()
     WHERE id = :charge_id AND status = 'pending' RETURNING order_id, created_at AS started_at
   ),
   -- No row if the status of the order does not allow the new one: after a cancellation, or when a recharge is
   -- declined.
   changed AS (
     UPDATE orders SET status = :status, payment_status = :payment_status, resume_at = NULL,
                       -- Providers report whole seconds by their own clock, so their time may be too early.
                       charged_at = CASE WHEN :charged_at::timestamptz IS NOT NULL THEN greatest(:charged_at, charge.started_at) END,
                       version = version + 1, updated_at = ${nextUpdateTimeSql}
     FROM charge WHERE orders.id = charge.order_id
       AND orders.status = ANY(:statuses_before::text[])
     RETURNING ${orderColumns}
   )
   SELECT CASE WHEN changed.id IS NULL THEN 'order_kept' ELSE 'order_changed' END AS effect, changed.*
   FROM charge LEFT JOIN changed ON true`,
);
const cancelResume = statement('orders.cancel-resume', 'UPDATE orders SET resume_at = NULL WHERE id = $1');
const markLateChargeRefundDue = statement(
  'charges.mark-late-refund-due',
  "UPDATE charges SET status = 'refund_due' WHERE id = $1 AND status = 'succeeded'",
);
// The charge was settled as declined, but a concurrent caller has received a success, for example because the
// creator corrected the card in between. The money is refunded.
const markContradictedRefundDue = statement(
  'charges.mark-contradicted-refund-due',
  `UPDATE charges SET status = 'refund_due', provider_reference = coalesce($2, provider_reference)
   WHERE id = $1 AND status = 'declined'`,
);
const readStatus = statement('orders.status', 'SELECT status FROM orders WHERE id = $1');

/** The effect of `settleCharge` on the order. There is no row if the charge was settled before. */
type SettledRow = (OrderRow & { readonly effect: 'order_changed' }) | { readonly effect: 'order_kept' };
type ChargeToSettle = Pick<OpenCharge, 'id' | 'orderId'>;

/**
 * Turns the outcome of a charge into the order's state. One commit writes the state, the message and the
 * stored response, and returns the stock on failure. The request and the completer may both settle a charge;
 * the first one wins.
 */
@Injectable()
export class SettleOrder {
  constructor(
    private readonly keys: IdempotencyKeys,
    private readonly settleUnchanged: SettleUnchanged,
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Never throws: the order exists, so the client gets its id. Without an outcome, leaves the order as it is
   * and returns `pending`. Also returns `pending` after an error, although the commit may have succeeded.
   * @param database the pool of requests, or the background pool of the completer (ADR 22)
   * @param newOrder the order as this request has written it, which saves reading it; requires the pool of
   *   requests
   */
  async run(
    database: Database,
    charge: ChargeToSettle,
    outcome: ChargeOutcome | undefined,
    newOrder?: NewOrder,
  ): Promise<StoredResponse> {
    const { orderId } = charge;
    const pending: StoredResponse = { id: publicId('ord', orderId), status: 'pending' };
    try {
      if (newOrder !== undefined && outcome?.status === 'succeeded') {
        const response = await this.settleUnchanged.run(newOrder, outcome);
        if (response !== undefined) return response;
      }
      if (outcome !== undefined) return await this.settleInTransaction(database, charge, outcome);
      await this.keys.saveResponse(database, orderId, pending);
    } catch (error) {
      this.logger.error(
        { error, order_id: orderId },
        'An order could not be settled; the completer will retry.',
      );
    }
    return pending;
  }

  private async settleInTransaction(
    database: Database,
    { id: chargeId, orderId }: ChargeToSettle,
    outcome: ChargeOutcome,
  ): Promise<StoredResponse> {
    const response = await database.transaction(async (tx) => {
      const isPaid = outcome.status === 'succeeded';
      const status = isPaid ? 'processing' : 'payment_failed';
      const settling = tx.row<SettledRow>(settleCharge, {
        charge_id: chargeId,
        charge_status: outcome.status,
        reference: outcome.reference,
        status,
        payment_status: isPaid ? 'paid' : 'failed',
        charged_at: isPaid ? outcome.chargedAt : null,
        statuses_before: statusesBefore(status),
      });
      const [row, items] = await pipelined([settling, readItems(tx, orderId)]);
      if (row === undefined) {
        if (isPaid) await tx.run(markContradictedRefundDue, [chargeId, outcome.reference]);
        return readCurrentResponse(tx, orderId);
      }
      if (row.effect === 'order_kept') {
        // Also locks the order. Transactions that return stock lock an order before its products.
        await tx.run(cancelResume, [orderId]);
        // A paid order that keeps its status was cancelled, so its money is refunded.
        if (isPaid) await tx.run(markLateChargeRefundDue, [chargeId]);
        else await this.stock.returnStock(tx, orderId);
        return readCurrentResponse(tx, orderId);
      }
      if (!isPaid) await this.stock.returnStock(tx, orderId);
      const changed: StoredResponse = { id: publicId('ord', orderId), status: row.status };
      tx.awaitAtCommit(
        this.outbox.add(tx, this.newMessage(outcome, orderSnapshot(row, items))),
        this.keys.saveResponse(tx, orderId, changed),
      );
      this.faultPoints.pass('order-settled-uncommitted');
      return changed;
    });
    this.faultPoints.pass('order-settled');
    return response;
  }

  /** Returns the message that reports the outcome. */
  private newMessage(outcome: ChargeOutcome, order: OrderSnapshot): Message {
    const occurredAt = this.clock();
    if (outcome.status === 'succeeded') return messages.orderProcessing.make({ order }, { occurredAt });
    return messages.orderPaymentFailed.make({ order, reason: outcome.reason }, { occurredAt });
  }
}

/**
 * Returns the current response for an order that another request or the completer has settled or cancelled.
 */
export async function readCurrentResponse(sql: Sql, orderId: string): Promise<StoredResponse> {
  const row = await sql.row<Pick<StoredResponse, 'status'>>(readStatus, [orderId]);
  return { id: publicId('ord', orderId), status: row?.status ?? 'pending' };
}
