import type { Currency } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { PaymentGateway } from '../payments/payment-gateway.js';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { forgetQuotes } from '../shipping/forget-quotes.js';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.js';
import { ChargeOrder } from './charge-order.js';

const lookEveryMs = 2_000;
const batchSize = 20;

const takePending = statement(
  'orders.take-pending',
  `UPDATE orders o SET resume_at = now() + interval '15 seconds'
   FROM (SELECT id FROM orders WHERE resume_at < now() ORDER BY resume_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) AS due
   JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
   WHERE o.id = due.id
   RETURNING o.id AS "orderId", c.id AS "chargeId", c.amount, c.currency, c.payment_method AS "paymentMethod"`,
);
const refundsDue = statement(
  'charges.refunds-due',
  `SELECT id FROM charges WHERE status = 'refund_due' AND settled_at <= now() ORDER BY settled_at LIMIT ${batchSize}`,
);
// Behind the others that are owed, so that one the provider refuses holds up nobody.
const laterRefund = statement(
  'charges.later-refund',
  "UPDATE charges SET settled_at = now() + interval '1 minute' WHERE id = $1 AND status = 'refund_due'",
);
const refunded = statement(
  'charges.refunded',
  "UPDATE charges SET status = 'refunded' WHERE id = $1 AND status = 'refund_due'",
);

interface DueCharge {
  orderId: string;
  chargeId: string;
  amount: number;
  currency: Currency;
  paymentMethod: string;
}

/** The completer: goes on with orders that a crash or a silent provider left pending, and gives back what is owed. Any number of replicas may run. */
@Injectable()
export class ResumeOrders {
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly database: Database,
    private readonly chargeOrder: ChargeOrder,
    private readonly payments: PaymentGateway,
    private readonly keys: IdempotencyKeys,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loop = new BackgroundLoop({
      name: 'resume-orders',
      intervalMs: lookEveryMs,
      logger,
      round: () => this.round(),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** One look. Answers whether there may be more. */
  async round(): Promise<boolean> {
    const due = await this.database.rows<DueCharge>(takePending);
    await Promise.all(due.map((charge) => this.resume(charge)));
    const owed = await this.database.rows<{ id: string }>(refundsDue);
    for (const { id } of owed) await this.refund(id);
    const forgotMany = (await this.keys.forgetOld()) || (await forgetQuotes(this.database));
    return due.length === batchSize || owed.length === batchSize || forgotMany;
  }

  private async resume({ orderId, chargeId, amount, currency, paymentMethod }: DueCharge): Promise<void> {
    const { status } = await this.chargeOrder.run({
      orderId,
      idempotencyKey: chargeId,
      amount: { amount, currency },
      paymentMethod,
    });
    this.logger.info({ order_id: orderId, status }, 'Resumed a pending order.');
  }

  private async refund(chargeId: string): Promise<void> {
    try {
      await this.payments.refund(chargeId, AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS));
      await this.database.run(refunded, [chargeId]);
    } catch (error) {
      this.logger.error({ error, charge_id: chargeId }, 'A refund could not be made yet; it is owed on.');
      await this.database.run(laterRefund, [chargeId]);
    }
  }
}
