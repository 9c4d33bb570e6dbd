import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { RejectedMessage } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { OutOfOrderEvent } from './out-of-order-event.js';
import { DeferredEvents } from './deferred-events.js';
import { TransitionOrder } from './transition-order.js';

/**
 * Applies, defers or rejects a fulfilment event of an order. Events may arrive in any order and more than
 * once.
 */
@Injectable()
export class HandleFulfilmentEvent {
  constructor(
    private readonly transitionOrder: TransitionOrder,
    private readonly deferredEvents: DeferredEvents,
  ) {}

  /** @throws RejectedMessage */
  async run(tx: Transaction, message: Message): Promise<void> {
    try {
      const orderId = await this.apply(tx, message);
      await this.deferredEvents.delete(tx, message.id);
      await this.deferredEvents.applyDeferred(
        tx,
        orderId,
        async (deferred) => void (await this.apply(tx, deferred)),
      );
    } catch (error) {
      if (!(error instanceof OutOfOrderEvent)) throw error;
      await this.deferredEvents.defer(tx, message, error);
    }
  }

  /** Returns the order's UUID. @throws RejectedMessage, OutOfOrderEvent; then nothing was written */
  private apply(tx: Transaction, message: Message): Promise<string> {
    const at = message.occurred_at;
    if (messages.fulfilmentShipped.is(message)) return this.transitionOrder.ship(tx, message.data, at);
    if (messages.fulfilmentTrackingCorrected.is(message))
      return this.transitionOrder.correctTracking(tx, message.data, at);
    if (messages.fulfilmentDelivered.is(message)) return this.transitionOrder.deliver(tx, message.data, at);
    if (messages.fulfilmentCancelled.is(message)) return this.transitionOrder.cancel(tx, message.data);
    throw new RejectedMessage(`${message.type} does not belong to this queue`);
  }
}
