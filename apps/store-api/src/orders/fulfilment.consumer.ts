import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { each, Messaging } from '@fulfilment/messaging';
import { recordOperatorMessage } from '@fulfilment/service-host/operator';
import { Injectable } from '@nestjs/common';
import { ApproveRelease } from '../catalogue/approve-release.js';
import { ChangeProducts } from '../catalogue/change-products.js';
import { ReportStock } from '../catalogue/report-stock.js';
import { ReportOnOrder } from './report-on-order.js';

/** What the pressing plant, the warehouse and the operator report. */
@Injectable()
export class FulfilmentConsumer {
  constructor(
    messaging: Messaging,
    private readonly reportOnOrder: ReportOnOrder,
    private readonly changeProducts: ChangeProducts,
    private readonly reportStock: ReportStock,
    private readonly approveRelease: ApproveRelease,
  ) {
    messaging.consume({
      queue: 'store-api.fulfilment',
      batchSize: 1, // a report locks what it touches: two in one transaction could wait for an order that waits for them
      handle: each(async (tx, message) => {
        await this.handle(tx, message);
        if (message.operator !== undefined) await recordOperatorMessage(tx, message.operator, message);
      }),
    });
  }

  private handle(tx: Transaction, message: Message): Promise<void> {
    const at = message.occurred_at;
    if (messages.fulfilmentStockSet.is(message)) {
      return this.reportStock.count(tx, message.data.sku, message.data.quantity, at);
    }
    if (messages.fulfilmentStockAdjusted.is(message)) {
      const { sku, delta } = message.data;
      return this.reportStock.adjust(tx, sku, { messageId: message.id, delta, occurredAt: at });
    }
    if (messages.fulfilmentProductReleased.is(message))
      return this.changeProducts.release(tx, message.data.sku, at);
    if (messages.fulfilmentProductWithdrawn.is(message))
      return this.changeProducts.withdraw(tx, message.data.sku, at);
    if (messages.catalogueReleaseApproved.is(message)) return this.approveRelease.run(tx, message.data, at);
    return this.reportOnOrder.run(tx, message);
  }
}
