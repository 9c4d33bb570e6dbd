import { messages, type OrderStatus, parsePublicId, publicId } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, throwNotFound } from '@fulfilment/error-envelope';
import { type Caller, fingerprint, replayHeaders, ResponseWithHeaders } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { FaultPoints } from '../../fault-points.js';
import type { CancelOrderDto } from './cancel-order.dto.js';
import { CancelLockedOrder } from './cancel-locked-order.js';
import { IdempotencyKeys } from '../idempotency-keys.js';
import { readItems } from '../order-row.js';
import { canTransition } from '../order.rules.js';
import type { OrderView } from '../order.shapes.js';
import { ReadOrders } from '../reading/read-orders.js';

const defaultReason = 'Cancelled by the merchant.';

const lockOrder = statement(
  'orders.lock-to-cancel',
  'SELECT status FROM orders WHERE id = $1 AND creator_id = $2 FOR UPDATE',
);

/**
 * Cancels an order that has not shipped, in one commit. `RefundCharges` makes the refund later. A repeated
 * request finds the order cancelled and leaves it unchanged (ADR 56).
 */
@Injectable()
export class CancelOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly cancelLocked: CancelLockedOrder,
    private readonly outbox: Outbox,
    private readonly readOrders: ReadOrders,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Returns the cancelled order, even if the request is a repetition.
   * @throws NotFound; Conflict when the order has shipped, or the key was used with another body or by a
   *   request in progress
   */
  async run(
    caller: Caller,
    id: string,
    { reason = defaultReason }: CancelOrderDto,
    key?: string,
  ): Promise<ResponseWithHeaders<OrderView>> {
    const orderId = parsePublicId('ord', id) ?? throwNotFound('order');
    const creatorId = caller.creatorId ?? throwNotFound('order');
    const isReplay = await this.database.transaction(async (tx) => {
      // Locks the order before the key, as `ReportSimulatedEvent` does, so that the two cannot deadlock.
      const order = await tx.row<{ status: OrderStatus }>(lockOrder, [orderId, creatorId]);
      if (order === undefined) return throwNotFound('order');
      const scope = { creatorId, clientId: caller.clientId, key };
      const requestFingerprint = fingerprint({ cancel: orderId, reason });
      // The stored response only marks the key as used: every request returns the order as it is now.
      const response = { id: publicId('ord', orderId), status: 'cancelled' as const };
      const isNew = await this.keys.store(tx, scope, requestFingerprint, response);
      if (order.status !== 'cancelled') await this.cancel(tx, orderId, order.status, reason);
      return !isNew;
    });
    this.faultPoints.pass('order-cancelled');
    return new ResponseWithHeaders(await this.readOrders.read(caller, id), isReplay ? replayHeaders : {});
  }

  private async cancel(tx: Transaction, orderId: string, status: OrderStatus, reason: string): Promise<void> {
    if (!canTransition(status, 'cancelled')) throw alreadyShipped();
    const items = await readItems(tx, orderId);
    const cancellation = { reason, cancelled_by: 'merchant' } as const;
    const { row, data } = await this.cancelLocked.run(tx, orderId, items, cancellation);
    await this.outbox.add(tx, messages.orderCancelled.make(data, { occurredAt: this.clock() }));
    // The request that placed the order may still wait for the payment. It then returns `cancelled`, too.
    await this.keys.saveResponse(tx, orderId, { id: publicId('ord', orderId), status: row.status });
    this.faultPoints.pass('order-cancelled-uncommitted');
  }
}

export function alreadyShipped(): Conflict {
  return new Conflict('The order has shipped and can no longer be cancelled.', [
    { field: 'status', reason: 'already_shipped' },
  ]);
}
