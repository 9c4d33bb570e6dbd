import { messages, publicId } from '@fulfilment/contracts';
import { BatchLoader, Database, isErrorResponse, JsonRows, statement } from '@fulfilment/database';
import { Outbox, outboxRow } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { FaultPoints } from '../../fault-points.js';
import type { ChargeOutcome } from '../../payments/payment-gateway.js';
import type { StoredResponse } from '../idempotency-keys.js';
import { statusesBefore } from '../order.rules.js';
import { type OrderRow, orderSnapshot } from '../order-row.js';
import type { NewOrder } from '../placing/new-order.js';

type PaidOutcome = Extract<ChargeOutcome, { status: 'succeeded' }>;

/** A paid order: its charge, the version that it must still have, and what is written. */
interface PaidOrder {
  readonly charge_id: string;
  readonly reference: string | null;
  readonly version_before: number;
  readonly charged_at: Date;
  readonly updated_at: Date;
  readonly response: StoredResponse;
  readonly message_id: string;
  readonly routing_key: string;
  /** JSON. */
  readonly message_body: string;
}

const settledStatus = 'processing';
const paid = new JsonRows<PaidOrder>('paid', {
  charge_id: 'uuid',
  reference: 'text',
  version_before: 'int',
  charged_at: 'timestamptz',
  updated_at: 'timestamptz',
  response: 'jsonb',
  message_id: 'uuid',
  routing_key: 'text',
  message_body: 'text',
});
// Locks the charge and then the order, like orders.settle. Leaves out an order that another transaction has
// locked, so that the others do not wait for it, and an order that has changed since its request wrote it.
export const settlePaidOrders = statement(
  'orders.settle-unchanged',
  `WITH unchanged AS MATERIALIZED (
     SELECT paid.*, open_order.id FROM ${paid.table()}
     CROSS JOIN LATERAL (
       SELECT order_id FROM charges WHERE id = paid.charge_id AND status = 'pending' LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS charge
     CROSS JOIN LATERAL (
       SELECT id, version FROM orders WHERE id = charge.order_id AND status = ANY(:statuses_before::text[]) LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED) AS open_order
     WHERE open_order.version = paid.version_before
   ), charged AS (
     UPDATE charges SET status = 'succeeded', provider_reference = coalesce(unchanged.reference, provider_reference), settled_at = now()
     FROM unchanged WHERE charges.id = unchanged.charge_id
   ), settled AS (
     UPDATE orders SET status = '${settledStatus}', payment_status = 'paid', resume_at = NULL, charged_at = unchanged.charged_at,
                       updated_at = unchanged.updated_at, version = version + 1
     FROM unchanged WHERE orders.id = unchanged.id
   ), response AS (
     UPDATE idempotency_keys SET response = unchanged.response FROM unchanged
     WHERE order_id = unchanged.id AND (idempotency_keys.response IS NULL OR idempotency_keys.response->>'status' = 'pending')
   ), message AS (
     INSERT INTO outbox (message_id, type, body) SELECT message_id, routing_key, message_body::jsonb FROM unchanged
   )
   SELECT index, true AS row FROM unchanged`,
);

/**
 * Settles paid orders that have not changed since their requests wrote them, in one statement instead of the
 * transaction of `SettleOrder`: the changed row and the message follow from what was written (ADR 45).
 * Concurrent requests share the statement.
 */
@Injectable()
export class SettleUnchanged {
  private readonly paidOrders: BatchLoader<PaidOrder, true>;

  constructor(
    database: Database,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.paidOrders = new BatchLoader({
      run: (orders) =>
        database.rows<{ index: number; row: true }>(settlePaidOrders, {
          ...paid.values(orders),
          statuses_before: statusesBefore(settledStatus),
        }),
      maxConcurrent: 4, // a statement that waits for the row of a key delays only its own orders
    });
  }

  /**
   * Returns undefined if the order or its charge has changed or is being changed, or if PostgreSQL rejected
   * the statement, possibly because of another order.
   */
  async run(
    { row, items, charge, createdAtMonotonicMs }: NewOrder,
    { chargedAt, reference }: PaidOutcome,
  ): Promise<StoredResponse | undefined> {
    const elapsedMs = Math.max(1, Math.floor(performance.now() - createdAtMonotonicMs));
    const paidRow = {
      ...row,
      version: row.version + 1,
      status: settledStatus,
      payment_status: 'paid',
      charged_at: chargedAt > row.created_at ? chargedAt : row.created_at,
      updated_at: new Date(row.updated_at.getTime() + elapsedMs), // by PostgreSQL's clock
    } as const satisfies OrderRow;
    const response: StoredResponse = { id: publicId('ord', row.id), status: settledStatus };
    const order = orderSnapshot(paidRow, items);
    const isSettled = await this.settle(row.id, {
      charge_id: charge.id,
      reference,
      version_before: row.version,
      charged_at: paidRow.charged_at,
      updated_at: paidRow.updated_at,
      response,
      ...outboxRow(messages.orderProcessing.make({ order }, { occurredAt: this.clock() })),
    });
    if (!isSettled) return undefined;
    this.outbox.wakeRelay();
    this.faultPoints.pass('order-settled');
    return response;
  }

  /** Returns whether the order is settled. @throws if that is unknown, such as after a lost connection */
  private async settle(orderId: string, order: PaidOrder): Promise<boolean> {
    try {
      return (await this.paidOrders.load(order)) === true;
    } catch (error) {
      if (!isErrorResponse(error)) throw error;
      this.logger.warn(
        { error, order_id: orderId },
        'PostgreSQL rejected a settlement of several orders; the order is settled separately.',
      );
      return false;
    }
  }
}
