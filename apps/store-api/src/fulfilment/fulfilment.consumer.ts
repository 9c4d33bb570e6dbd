import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { forEachMessage, MessageConsumer } from '@fulfilment/messaging';
import { recordOperatorMessage } from '@fulfilment/service-host/operator';
import { Injectable } from '@nestjs/common';
import { ApproveRelease } from '../catalogue/approve-release.js';
import { ChangeProducts } from '../catalogue/change-products.js';
import { ApplyStockEvents } from '../catalogue/apply-stock-events.js';
import { HandleFulfilmentEvent } from './handle-fulfilment-event.js';

/** Consumes events of the pressing plant and the warehouse, and of operators on their behalf. */
@Injectable()
export class FulfilmentConsumer extends MessageConsumer {
  readonly queue = 'store-api.fulfilment';
  /** An event locks its rows: two in one transaction could deadlock with an order. */
  readonly batchSize = 1;

  constructor(
    private readonly handleFulfilmentEvent: HandleFulfilmentEvent,
    private readonly changeProducts: ChangeProducts,
    private readonly stockEvents: ApplyStockEvents,
    private readonly approveRelease: ApproveRelease,
  ) {
    super();
  }

  readonly handle = forEachMessage(async (tx, message) => {
    await this.handleOne(tx, message);
    if (message.operator !== undefined) await recordOperatorMessage(tx, message.operator, message);
  });

  private handleOne(tx: Transaction, message: Message): Promise<void> {
    const at = message.occurred_at;
    if (messages.fulfilmentStockSet.is(message)) {
      return this.stockEvents.count(tx, message.data.sku, message.data.quantity, at);
    }
    if (messages.fulfilmentStockAdjusted.is(message)) {
      const { sku, delta } = message.data;
      return this.stockEvents.adjust(tx, sku, { messageId: message.id, delta, occurredAt: at });
    }
    if (messages.fulfilmentProductReleased.is(message))
      return this.changeProducts.release(tx, message.data.sku, at);
    if (messages.fulfilmentProductWithdrawn.is(message))
      return this.changeProducts.withdraw(tx, message.data.sku, at);
    if (messages.catalogueReleaseApproved.is(message)) return this.approveRelease.run(tx, message.data, at);
    return this.handleFulfilmentEvent.run(tx, message);
  }
}
