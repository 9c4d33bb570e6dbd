import type { Message } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { DeferredEvents, OutOfOrderEvent } from './deferred-events.js';
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
      const orderId = await this.transitionOrder.apply(tx, message);
      await this.deferredEvents.delete(tx, message.id);
      await this.deferredEvents.applyDeferred(tx, orderId, (deferred) =>
        this.transitionOrder.apply(tx, deferred),
      );
    } catch (error) {
      if (!(error instanceof OutOfOrderEvent)) throw error;
      await this.deferredEvents.defer(tx, message, error);
    }
  }
}
