import type { Message } from '@fulfilment/contracts';
import { pipelined, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { recordOperatorMessage } from '@fulfilment/service-host/operator';
import { Injectable } from '@nestjs/common';
import { groupDistinct } from '../group-distinct.js';
import { DeferredEvents, EventOutOfOrderError } from './deferred-events.js';
import { orderChange, type OrderEvent, orderEvent, unknownOrder } from './order-events.js';
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
    const events = messages.map(orderEvent);
    const ids = [...new Set(events.map(({ orderId }) => orderId))];
    const [orders, deferredIds] = await pipelined([
      this.transitionOrders.lock(tx, ids),
      this.deferredEvents.idsByOrder(tx, ids),
    ]);
    const outgoing: Message[] = [];
    for (const group of groupDistinct(events, ({ orderId }) => orderId)) {
      const transitions = await this.planTransitions(tx, orders, deferredIds, group);
      outgoing.push(...(await this.apply(tx, transitions)));
      for (const { order, cause } of transitions)
        outgoing.push(...(await this.applyEnabled(tx, order, cause, deferredIds.get(order.row.id))));
    }
    await this.outbox.add(tx, ...outgoing);
  }

  /**
   * Returns the transitions that the events cause, and defers out-of-order events.
   * @param deferredIds ids of the deferred events by order; the newly deferred ones are added
   * @param events events of different orders
   * @throws RejectedMessage
   */
  private async planTransitions(
    tx: Transaction,
    orders: ReadonlyMap<string, LockedOrder>,
    deferredIds: Map<string, Set<string>>,
    events: readonly OrderEvent[],
  ): Promise<Transition[]> {
    const transitions: Transition[] = [];
    for (const event of events) {
      try {
        transitions.push(transitionOf(orders.get(event.orderId), event));
      } catch (error) {
        if (!(error instanceof EventOutOfOrderError)) throw error;
        await this.deferredEvents.defer(tx, event.message, error);
        const idsOfOrder = deferredIds.get(event.orderId) ?? new Set();
        idsOfOrder.add(event.message.id);
        deferredIds.set(event.orderId, idsOfOrder);
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
  private async applyEnabled(
    tx: Transaction,
    order: LockedOrder,
    { id: causeId }: Message,
    deferredIds: ReadonlySet<string> = new Set(),
  ): Promise<Message[]> {
    // The event that arrived may be a deferred one that was published again.
    if (deferredIds.has(causeId)) await this.deferredEvents.delete(tx, causeId);
    const outgoing: Message[] = [];
    if (deferredIds.size > 0)
      await this.deferredEvents.applyDeferred(tx, order.row.id, async (message) => {
        const transition = transitionOf(order, orderEvent(message));
        outgoing.push(...(await this.apply(tx, [transition])));
      });
    return outgoing;
  }
}

/** @throws RejectedMessage, EventOutOfOrderError */
function transitionOf(order: LockedOrder | undefined, event: OrderEvent): Transition {
  if (order === undefined) throw unknownOrder(event.publicOrderId);
  return { order, change: orderChange(order, event), cause: event.message };
}
