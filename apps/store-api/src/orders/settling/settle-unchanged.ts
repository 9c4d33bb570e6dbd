import { messages, publicId } from '@fulfilment/contracts';
import { BatchLoader, Database, RowParameters, statement } from '@fulfilment/database';
import { Outbox, outboxRow } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { FaultPoints } from '../../fault-points.js';
import type { ChargeOutcome } from '../../payments/payment-gateway.js';
import type { StoredResponse } from '../idempotency-keys.js';
import { statusesBefore } from '../order.rules.js';
import { type OrderRow, orderSnapshot } from '../order-row.js';
import type { NewOrder } from '../placing/new-order.js';

type PaidOutcome = Extract<ChargeOutcome, { status: 'succeeded' }>;

/** A paid order as it becomes, and what is written with it. */
interface PaidOrder {
  readonly row: OrderRow;
  readonly versionBefore: number;
  readonly chargeId: string;
  readonly reference: string | null;
  readonly response: StoredResponse;
  readonly message: ReturnType<typeof outboxRow>;
}

const settledStatus = 'processing';
const paidOrders = new RowParameters<PaidOrder>('paid', {
  charge_id: ['uuid', ({ chargeId }) => chargeId],
  reference: ['text', ({ reference }) => reference],
  version_before: ['int', ({ versionBefore }) => versionBefore],
  charged_at: ['timestamptz', ({ row }) => row.charged_at],
  updated_at: ['timestamptz', ({ row }) => row.updated_at],
  response: ['jsonb', ({ response }) => response],
  message_id: ['uuid', ({ message }) => message.message_id],
  routing_key: ['text', ({ message }) => message.routing_key],
  message_body: ['jsonb', ({ message }) => message.message_body],
});
export const settlePaidOrders = statement(
  'orders.settle-unchanged',
  `WITH unchanged AS MATERIALIZED (
     SELECT paid.*, open_order.id FROM ${paidOrders.tableWithIndex()}
     -- Locks in the order of orders.settle, the charge and then the order. An order that another transaction has
     -- locked is left out, so that the others do not wait for it.
     CROSS JOIN LATERAL (
       SELECT order_id FROM charges WHERE id = paid.charge_id AND status = 'pending' LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS charge
     CROSS JOIN LATERAL (
       SELECT id, version FROM orders WHERE id = charge.order_id AND status = ANY(:statuses_before::text[]) LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED) AS open_order
     -- An order that has changed since its request wrote it is left out.
     WHERE open_order.version = paid.version_before
   ), charged AS (
     UPDATE charges SET status = 'succeeded', provider_reference = coalesce(unchanged.reference, provider_reference), settled_at = now()
     FROM unchanged WHERE charges.id = unchanged.charge_id
   ), settled AS (
     UPDATE orders SET status = '${settledStatus}', payment_status = 'paid', resume_at = NULL, charged_at = unchanged.charged_at,
                       updated_at = unchanged.updated_at, version = version + 1
     FROM unchanged WHERE orders.id = unchanged.id
   ), responded AS (
     UPDATE idempotency_keys SET response = unchanged.response FROM unchanged
     WHERE order_id = unchanged.id AND (idempotency_keys.response IS NULL OR idempotency_keys.response->>'status' = 'pending')
   ), published AS (
     INSERT INTO outbox (message_id, type, body) SELECT message_id, routing_key, message_body FROM unchanged
   )
   SELECT index::int - 1 AS index, true AS row FROM unchanged`,
);

/**
 * Settles paid orders that have not changed since their requests wrote them, in one statement instead of the
 * transaction of `SettleOrder`: the changed row and the message follow from what was written (docs/adr/0045).
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
  ) {
    this.paidOrders = new BatchLoader({
      run: (orders) =>
        database.rows<{ index: number; row: true }>(settlePaidOrders, {
          ...paidOrders.values(orders),
          statuses_before: statusesBefore(settledStatus),
        }),
      maxConcurrent: 2,
    });
  }

  /** Returns undefined if the order or its charge has changed, or is being changed. */
  async run(
    { row, items, charge, createdAtMonotonicMs }: NewOrder,
    { chargedAt, reference }: PaidOutcome,
  ): Promise<StoredResponse | undefined> {
    const elapsedMs = Math.max(1, Math.floor(performance.now() - createdAtMonotonicMs));
    const paidRow: OrderRow = {
      ...row,
      version: row.version + 1,
      status: settledStatus,
      payment_status: 'paid',
      charged_at: chargedAt > row.created_at ? chargedAt : row.created_at,
      updated_at: new Date(row.updated_at.getTime() + elapsedMs), // by PostgreSQL's clock
    };
    const response: StoredResponse = { id: publicId('ord', row.id), status: settledStatus };
    const order = orderSnapshot(paidRow, items);
    const isSettled = await this.paidOrders.load({
      row: paidRow,
      versionBefore: row.version,
      chargeId: charge.id,
      reference,
      response,
      message: outboxRow(messages.orderProcessing.make({ order }, { occurredAt: this.clock() })),
    });
    if (isSettled !== true) return undefined;
    this.outbox.wakeRelay();
    this.faultPoints.pass('order-settled');
    return response;
  }
}
