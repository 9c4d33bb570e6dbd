import { type OrderStatus, parsePublicId, publicId } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, throwNotFound } from '@fulfilment/error-envelope';
import { type Caller, fingerprint, replayHeaders, ResponseWithHeaders } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { maxPackageEvents, TooManyPackageEvents } from '../fulfilment/order-events.js';
import { HandleFulfilmentEvents } from '../fulfilment/handle-fulfilment-events.js';
import { IdempotencyKeys } from '../orders/idempotency-keys.js';
import type { OrderView } from '../orders/order.shapes.js';
import { ReadOrders } from '../orders/reading/read-orders.js';
import { simulatedEvent, statusesForEvent } from './simulated-events.rules.js';
import type { WarehouseEvent } from './test-orders.dto.js';

// Reads PostgreSQL's time, since clocks of replicas differ: events need times in the order of their requests.
const lockOrder = statement(
  'test-orders.lock',
  'SELECT status, test, clock_timestamp() AS now FROM orders WHERE id = $1 AND creator_id = $2 FOR UPDATE',
);

interface LockedOrder {
  readonly status: OrderStatus;
  readonly test: boolean;
  /** Time of PostgreSQL's clock. */
  readonly now: Date;
}

/** Applies an event of the simulated warehouse to a test order, in one commit (ADR 66). */
@Injectable()
export class ReportSimulatedEvent {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly handleFulfilmentEvents: HandleFulfilmentEvents,
    private readonly readOrders: ReadOrders,
  ) {}

  /**
   * Returns the order as it is now, even if the request is a repetition.
   * @throws NotFound; Conflict for a live order, when its status or the number of its events does not allow
   *   the event, or when the key was used with another body or by a request in progress
   */
  async run(
    caller: Caller,
    id: string,
    event: WarehouseEvent,
    key?: string,
  ): Promise<ResponseWithHeaders<OrderView>> {
    const orderId = parsePublicId('ord', id) ?? throwNotFound('order');
    const creatorId = caller.creatorId ?? throwNotFound('order');
    const isReplay = await this.database.transaction(async (tx) => {
      const order = await tx.row<LockedOrder>(lockOrder, [orderId, creatorId]);
      if (order === undefined) return throwNotFound('order');
      if (!order.test) throw notATestOrder();
      const scope = { creatorId, clientId: caller.clientId, key };
      const requestFingerprint = fingerprint({ event, order: orderId });
      // The stored response only marks the key as used: every request returns the order as it is now.
      const response = { id: publicId('ord', orderId), status: order.status };
      const isNew = await this.keys.store(tx, scope, requestFingerprint, response);
      if (isNew) await this.apply(tx, orderId, order, event);
      return !isNew;
    });
    return new ResponseWithHeaders(await this.readOrders.read(caller, id), isReplay ? replayHeaders : {});
  }

  private async apply(
    tx: Transaction,
    orderId: string,
    { status, now }: LockedOrder,
    event: WarehouseEvent,
  ): Promise<void> {
    if (!statusesForEvent[event].includes(status)) throw statusMismatch(status, event);
    try {
      await this.handleFulfilmentEvents.run(tx, [simulatedEvent(event, orderId, now)]);
    } catch (error) {
      if (error instanceof TooManyPackageEvents) throw tooManyEvents();
      throw error;
    }
  }
}

export function tooManyEvents(): Conflict {
  return new Conflict(`An order stores at most ${maxPackageEvents} events of its packages.`, [
    { field: 'event', reason: 'too_many_events' },
  ]);
}

export function notATestOrder(): Conflict {
  return new Conflict('Only a test order has events of the simulated warehouse.', [
    { field: 'id', reason: 'not_a_test_order' },
  ]);
}

export function statusMismatch(status: OrderStatus, event: WarehouseEvent): Conflict {
  return new Conflict(`An order that is ${status} cannot be reported as ${event}.`, [
    { field: 'event', reason: 'status_mismatch' },
  ]);
}
