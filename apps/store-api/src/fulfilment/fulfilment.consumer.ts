import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { forEachMessage, MessageConsumer } from '@fulfilment/messaging';
import { recordOperatorMessage } from '@fulfilment/service-host/operator';
import { Injectable } from '@nestjs/common';
import { ApproveRelease } from '../catalogue/publishing/approve-release.js';
import { SetProductStatus } from '../catalogue/publishing/set-product-status.js';
import { ApplyStockEvents, type StockEvent } from '../catalogue/stock/apply-stock-events.js';
import { HandleFulfilmentEvents } from './handle-fulfilment-events.js';

/** Consumes events of the pressing plant and the warehouse, and of operators on their behalf. */
@Injectable()
export class FulfilmentConsumer extends MessageConsumer {
  readonly queue = 'store-api.fulfilment';
  readonly batchSize = 50;

  constructor(
    private readonly handleFulfilmentEvents: HandleFulfilmentEvents,
    private readonly setProductStatus: SetProductStatus,
    private readonly applyStockEvents: ApplyStockEvents,
    private readonly approveRelease: ApproveRelease,
  ) {
    super();
  }

  /**
   * Package and stock events may share a transaction: it locks the orders in the order of their ids, then the
   * products. Cancellations may not: each locks an order and then its products, so two in one transaction
   * could deadlock with another transaction.
   */
  override mayShareTransaction(message: Message): boolean {
    return isPackageEvent(message) || toStockEvent(message) !== undefined;
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    const packageEvents = batch.filter(isPackageEvent);
    const stockEvents = batch.flatMap((message) => toStockEvent(message) ?? []);
    if (packageEvents.length > 0) await this.handleFulfilmentEvents.run(tx, packageEvents);
    if (stockEvents.length > 0) await this.applyStockEvents.run(tx, stockEvents);
    await this.handleUnbatched(
      tx,
      batch.filter((message) => !this.mayShareTransaction(message)),
    );
    // HandleFulfilmentEvents records the operator's events of orders itself, when it applies them.
    for (const message of batch.filter((handled) => !isOrderEvent(handled)))
      await recordOperatorMessage(tx, message);
  }

  private readonly handleUnbatched = forEachMessage((tx, message) => {
    const occurredAt = message.occurred_at;
    if (messages.fulfilmentProductReleased.is(message))
      return this.setProductStatus.run(tx, message.data.sku, 'available', occurredAt);
    if (messages.fulfilmentProductWithdrawn.is(message))
      return this.setProductStatus.run(tx, message.data.sku, 'unavailable', occurredAt);
    if (messages.catalogueReleaseApproved.is(message))
      return this.approveRelease.run(tx, message.data, occurredAt);
    return this.handleFulfilmentEvents.run(tx, [message]);
  });
}

function isPackageEvent(message: Message): boolean {
  return (
    messages.fulfilmentShipped.is(message) ||
    messages.fulfilmentTrackingCorrected.is(message) ||
    messages.fulfilmentDelivered.is(message)
  );
}

function isOrderEvent(message: Message): boolean {
  return isPackageEvent(message) || messages.fulfilmentCancelled.is(message);
}

/** Returns undefined for a message that is not about stock. */
function toStockEvent(message: Message): StockEvent | undefined {
  const { id: messageId, traceparent, occurred_at: occurredAt } = message;
  if (messages.fulfilmentStockSet.is(message)) {
    const { sku, quantity: pieces } = message.data;
    return { messageId, traceparent, occurredAt, kind: 'count', sku, pieces };
  }
  if (messages.fulfilmentStockAdjusted.is(message)) {
    const { sku, delta: pieces } = message.data;
    return { messageId, traceparent, occurredAt, kind: 'adjustment', sku, pieces };
  }
  return undefined;
}
