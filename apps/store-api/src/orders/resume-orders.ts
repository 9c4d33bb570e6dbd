import { Database, statement } from '@fulfilment/database';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { forgetQuotes } from '../shipping/forget-quotes.js';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.js';
import { ChargeOrder } from './charge-order.js';
import { type OpenCharge, openChargeColumns } from './open-charge.js';

const lookEveryMs = 2_000;
const batchSize = 20;
/** Beside the provider's time, what an order is left to the completer that took it before another does. */
const resumeWithinMs = 5_000;

const takePending = statement(
  'orders.take-pending',
  `UPDATE orders o SET resume_at = now() + $1::int * interval '1 millisecond'
   FROM (SELECT id FROM orders WHERE resume_at < now() ORDER BY resume_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) AS due
   JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
   WHERE o.id = due.id
   RETURNING ${openChargeColumns('c')}`,
);
/** The completer: goes on with orders that a crash or a silent provider left pending. Any number of replicas may run. */
@Injectable()
export class ResumeOrders {
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly database: Database,
    private readonly chargeOrder: ChargeOrder,
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
    const leaseMs = this.config.PAYMENT_TIMEOUT_MS + resumeWithinMs;
    const due = await this.database.rows<OpenCharge>(takePending, [leaseMs]);
    await Promise.all(due.map((charge) => this.resume(charge)));
    const forgotMany = (await this.keys.forgetOld()) || (await forgetQuotes(this.database));
    return due.length === batchSize || forgotMany;
  }

  private async resume(charge: OpenCharge): Promise<void> {
    const { status } = await this.chargeOrder.run(charge);
    this.logger.info({ order_id: charge.orderId, status }, 'Resumed an order.');
  }
}
