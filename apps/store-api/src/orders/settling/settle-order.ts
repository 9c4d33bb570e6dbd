import { messages, type Message, publicId } from '@fulfilment/contracts';
import { Database, type Sql, statement, pipelined } from '@fulfilment/database';
import { Outbox, outboxRow } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../../catalogue/stock/stock.js';
import { IdempotencyKeys, type StoredResponse } from '../idempotency-keys.js';
import type { ChargeOutcome, OpenCharge } from '../../payments/payment-gateway.js';
import { FaultPoints } from '../../fault-points.js';
import type { NewOrder } from '../placing/new-order.js';
import { statusesBefore } from '../order.rules.js';
import { type ItemRow, itemsOf, orderColumns, type OrderRow, orderSnapshot } from '../order-row.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';

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
     UPDATE orders SET status = :status, payment_status = :payment_status, reason = :reason, resume_at = NULL,
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
// The frequent case, in one statement: this request wrote the order, so it can compute the changed row itself
// (docs/adr/0045).
const settleUnchanged = statement(
  'orders.settle-unchanged',
  `WITH
   -- Locks in the order of orders.settle, the charge and then the order.
   open_charge AS (
     SELECT id, order_id FROM charges WHERE id = :charge_id AND status = 'pending' FOR UPDATE
   ),
   -- No row, so nothing is written, if the order has changed since this request wrote it.
   unchanged AS (
     SELECT orders.id, open_charge.id AS charge_id FROM open_charge JOIN orders ON orders.id = open_charge.order_id
     WHERE orders.version = :version_before AND orders.status = ANY(:statuses_before::text[]) FOR UPDATE OF orders
   ), charged AS (
     UPDATE charges SET status = 'succeeded', provider_reference = coalesce(:reference, provider_reference), settled_at = now()
     FROM unchanged WHERE charges.id = unchanged.charge_id
   ), settled AS (
     UPDATE orders SET status = :status, payment_status = :payment_status, resume_at = NULL, charged_at = :charged_at,
                       updated_at = :updated_at, version = version + 1
     FROM unchanged WHERE orders.id = unchanged.id
   ), responded AS (
     UPDATE idempotency_keys SET response = :response FROM unchanged
     WHERE order_id = unchanged.id AND (response IS NULL OR response->>'status' = 'pending')
   )
   INSERT INTO outbox (message_id, type, body) SELECT :message_id, :routing_key, :message_body::jsonb FROM unchanged`,
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

/** What `settleCharge` did to the order. No row if the charge was settled before. */
type SettledRow = (OrderRow & { readonly effect: 'order_changed' }) | { readonly effect: 'order_kept' };
type PaidOutcome = Extract<ChargeOutcome, { status: 'succeeded' }>;
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
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Never throws: the order exists, so the client gets its id. Without an outcome the order stays as it is,
   * and the result is `pending`; it is `pending` after an error, too, although the commit may have succeeded.
   * @param database the pool of requests, or the background pool of the completer (docs/adr/0022)
   * @param newOrder the order as this request has written it; saves reading it
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
        const response = await this.settleUnchanged(database, newOrder, outcome);
        if (response !== undefined) return response;
      }
      if (outcome !== undefined) return await this.settleInTransaction(database, charge, outcome);
      await this.keys.savePendingResponse(database, orderId, pending);
    } catch (error) {
      this.logger.error(
        { error, order_id: orderId },
        'An order could not be settled; the completer will retry.',
      );
    }
    return pending;
  }

  /**
   * Settles a paid order that has not changed since it was written, in one statement instead of the
   * transaction of `settleInTransaction`: its row and message follow from what was written (docs/adr/0045).
   * Returns undefined if the order or its charge has changed.
   */
  private async settleUnchanged(
    database: Database,
    { row, items, charge, createdAtMonotonicMs }: NewOrder,
    { chargedAt, reference }: PaidOutcome,
  ): Promise<StoredResponse | undefined> {
    const elapsedMs = Math.max(1, Math.floor(performance.now() - createdAtMonotonicMs));
    const paidRow: OrderRow = {
      ...row,
      version: row.version + 1,
      status: 'processing',
      payment_status: 'paid',
      charged_at: chargedAt > row.created_at ? chargedAt : row.created_at,
      updated_at: new Date(row.updated_at.getTime() + elapsedMs), // by PostgreSQL's clock
    };
    const response: StoredResponse = { id: publicId('ord', row.id), status: paidRow.status };
    const written = await database.run(settleUnchanged, {
      ...paidRow,
      charge_id: charge.id,
      version_before: row.version,
      statuses_before: statusesBefore(paidRow.status),
      reference,
      response,
      ...outboxRow(this.messageOf(paidRow, items)),
    });
    if (written === 0) return undefined;
    this.outbox.wakeRelay();
    this.faultPoints.pass('order-settled');
    return response;
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
        reason: isPaid ? null : outcome.reason,
        statuses_before: statusesBefore(status),
      });
      const [row, items] = await pipelined([settling, itemsOf(tx, orderId)]);
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
        this.outbox.add(tx, this.messageOf(row, items)),
        this.keys.saveFinalResponse(tx, orderId, changed),
      );
      this.faultPoints.pass('order-settled-uncommitted');
      return changed;
    });
    this.faultPoints.pass('order-settled');
    return response;
  }

  /** The message that reports the new status. */
  private messageOf(row: OrderRow, items: readonly ItemRow[]): Message {
    const order = orderSnapshot(row, items);
    const occurredAt = this.clock();
    if (row.status === 'processing') return messages.orderProcessing.make({ order }, { occurredAt });
    return messages.orderPaymentFailed.make({ order, reason: row.reason ?? 'declined' }, { occurredAt });
  }
}

/**
 * Returns the current response for an order that another request or the completer has settled or cancelled.
 */
export async function readCurrentResponse(sql: Sql, orderId: string): Promise<StoredResponse> {
  const row = await sql.row<Pick<StoredResponse, 'status'>>(readStatus, [orderId]);
  return { id: publicId('ord', orderId), status: row?.status ?? 'pending' };
}
