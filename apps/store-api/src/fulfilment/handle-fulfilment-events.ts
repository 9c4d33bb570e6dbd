import type { Message } from '@fulfilment/contracts';
import { pipelined, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { recordOperatorMessage } from '@fulfilment/service-host/operator';
import { Injectable } from '@nestjs/common';
import { groupDistinct } from '../group-distinct.js';
import { DeferredEvents, EventOutOfOrderError } from './deferred-events.js';
import { planChange, type OrderEvent, toOrderEvent, unknownOrder } from './order-events.js';
import { type LockedOrder, type Transition, TransitionOrders } from './transition-orders.js';

/**
 * Applies, defers or rejects fulfilment events of orders. Events may arrive in any order and more than once.
 */
@Injectable()
export class HandleFulfilmentEvents {
  constructor(
    private readonly transitionOrders: TransitionOrders,
    private readonly deferredEvents: DeferredEvents,
    private readonly outbox: Outbox,
  ) {}

  /** Applies the events of each order in the sequence of `messages`. @throws RejectedMessage */
  async run(tx: Transaction, messages: readonly Message[]): Promise<void> {
    const events = messages.map(toOrderEvent);
    const ids = [...new Set(events.map(({ orderId }) => orderId))];
    const [orders, ordersWithDeferred] = await pipelined([
      this.transitionOrders.lock(tx, ids),
      this.deferredEvents.findOrdersWithEvents(tx, ids),
    ]);
    const outgoing: Message[] = [];
    for (const group of groupDistinct(events, ({ orderId }) => orderId)) {
      const transitions = await this.planTransitions(tx, orders, ordersWithDeferred, group);
      outgoing.push(...(await this.apply(tx, transitions)));
      for (const { order, cause } of transitions)
        if (ordersWithDeferred.has(order.row.id))
          outgoing.push(...(await this.applyEnabled(tx, order, cause)));
    }
    await this.outbox.add(tx, ...outgoing);
  }

  /**
   * Returns the transitions that the events cause, and defers out-of-order events.
   * @param ordersWithDeferred ids of the orders with deferred events; those of newly deferred ones are added
   * @param events events of different orders
   * @throws RejectedMessage
   */
  private async planTransitions(
    tx: Transaction,
    orders: ReadonlyMap<string, LockedOrder>,
    ordersWithDeferred: Set<string>,
    events: readonly OrderEvent[],
  ): Promise<Transition[]> {
    const transitions: Transition[] = [];
    for (const event of events) {
      try {
        transitions.push(planTransition(orders.get(event.orderId), event));
      } catch (error) {
        if (!(error instanceof EventOutOfOrderError)) throw error;
        await this.deferredEvents.defer(tx, event.message, error);
        ordersWithDeferred.add(event.orderId);
      }
    }
    return transitions;
  }

  /** Applies transitions, and records those of an operator for the audit. Returns the messages to publish. */
  private async apply(tx: Transaction, transitions: readonly Transition[]): Promise<Message[]> {
    const outgoing = await this.transitionOrders.apply(tx, transitions);
    for (const { cause } of transitions) await recordOperatorMessage(tx, cause);
    return outgoing;
  }

  /**
   * Applies the deferred events that an applied event has enabled.
   * @param cause the applied event
   * @returns the messages to publish
   */
  private async applyEnabled(tx: Transaction, order: LockedOrder, cause: Message): Promise<Message[]> {
    const outgoing: Message[] = [];
    await this.deferredEvents.applyDeferred(tx, order.row.id, cause.id, async (message) => {
      const transition = planTransition(order, toOrderEvent(message));
      outgoing.push(...(await this.apply(tx, [transition])));
    });
    return outgoing;
  }
}

/** @throws RejectedMessage, EventOutOfOrderError */
function planTransition(order: LockedOrder | undefined, event: OrderEvent): Transition {
  if (order === undefined) throw unknownOrder(event.publicOrderId);
  return { order, change: planChange(order, event), cause: event.message };
}
