import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { RefusedMessage } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { EarlyReport } from './early-report.js';
import { HoldReports } from './hold-reports.js';
import { MoveOrder } from './move-order.js';

/** What is reported of an order, in any order and more than once: applied, held until it makes sense, or refused. */
@Injectable()
export class ReportOnOrder {
  constructor(
    private readonly moveOrder: MoveOrder,
    private readonly holdReports: HoldReports,
  ) {}

  /** @throws RefusedMessage */
  async run(tx: Transaction, message: Message): Promise<void> {
    try {
      const orderId = await this.move(tx, message);
      await this.holdReports.forget(tx, message.id);
      await this.holdReports.release(tx, orderId, async (held) => void (await this.move(tx, held)));
    } catch (error) {
      if (!(error instanceof EarlyReport)) throw error;
      await this.holdReports.hold(tx, message, error);
    }
  }

  /** Answers the order's UUID. @throws RefusedMessage, EarlyReport; then nothing was written */
  private move(tx: Transaction, message: Message): Promise<string> {
    const at = message.occurred_at;
    if (messages.fulfilmentShipped.is(message)) return this.moveOrder.ship(tx, message.data, at);
    if (messages.fulfilmentTrackingCorrected.is(message))
      return this.moveOrder.correctTracking(tx, message.data, at);
    if (messages.fulfilmentDelivered.is(message)) return this.moveOrder.deliver(tx, message.data, at);
    if (messages.fulfilmentCancelled.is(message)) return this.moveOrder.cancel(tx, message.data);
    throw new RefusedMessage(`${message.type} is not for this queue`);
  }
}
