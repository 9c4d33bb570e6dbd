import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { LOGGER, type Logger, SlotLoop } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { PaymentGateway, type RefundRequest } from '../payments/payment-gateway.js';
import { FaultPoints } from './fault-points.js';

const lookEveryMs = 2_000;
const slots = 10;
/** Beside the provider's time, what a refund is left to the one who took it before another does. */
const refundWithinMs = 5_000;

// What is owed is asked for when its `refund_at` has come; at once where it has none yet.
const takeRefunds = statement(
  'charges.take-refunds',
  `UPDATE charges c SET refund_at = now() + $1::int * interval '1 millisecond'
   FROM (SELECT id FROM charges WHERE status = 'refund_due' AND (refund_at IS NULL OR refund_at <= now())
         ORDER BY refund_at NULLS FIRST LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
   WHERE c.id = due.id
   RETURNING c.id AS "idempotencyKey", c.provider_reference AS reference, c.refund_reference AS "refundReference",
             c.refund_key_number AS "refundKeyNumber"`,
);
// After 1, 2, 4 and so on to 64 minutes: one that the provider refuses, or takes days for, holds up nobody. Who comes late with the news
// of an earlier key changes nothing.
const laterRefund = statement(
  'charges.later-refund',
  `UPDATE charges SET refund_at = now() + interval '1 minute' * 2 ^ least(refund_tries, 6), refund_tries = refund_tries + 1,
                      refund_reference = $3, refund_key_number = $4
   WHERE id = $1 AND status = 'refund_due' AND refund_key_number = $2`,
);
const refunded = statement(
  'charges.refunded',
  `UPDATE charges SET status = 'refunded', refund_reference = coalesce($2, refund_reference) WHERE id = $1 AND status = 'refund_due'`,
);

/** Gives back what is owed. A charge is `refund_due` until the provider says that the money has gone back. Any number of replicas may run. */
@Injectable()
export class RefundCharges {
  private readonly loop: SlotLoop<RefundRequest>;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly payments: PaymentGateway,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loop = new SlotLoop({
      name: 'refund-charges',
      intervalMs: lookEveryMs,
      logger,
      slots,
      take: (most) =>
        this.database.rows<RefundRequest>(takeRefunds, [config.PAYMENT_TIMEOUT_MS + refundWithinMs, most]),
      work: (owed, stopping) => this.refund(owed, stopping),
    });
  }

  start(): void {
    this.loop.start();
  }

  /** What waits for the provider is left to who takes it up when its lease ends. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Asks for all that is due now. */
  round(): Promise<void> {
    return this.loop.drain();
  }

  private async refund(owed: RefundRequest, stopping: AbortSignal): Promise<void> {
    const { idempotencyKey: id, refundReference, refundKeyNumber: key } = owed;
    const later = (reference: string | null, nextKey: number) =>
      this.database.run(laterRefund, [id, key, reference, nextKey]);
    try {
      const tooLate = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
      const answer = await this.payments.refund(owed, AbortSignal.any([tooLate, stopping]));
      this.faultPoints.pass('refunded');
      if (answer.status === 'refunded') await this.database.run(refunded, [id, answer.reference]);
      if (answer.status === 'under_way') await later(answer.reference, key);
      if (answer.status !== 'failed') return;
      this.logger.error({ charge_id: id, reason: answer.reason }, 'A refund failed; it is owed on.');
      await later(null, key + 1);
    } catch (error) {
      if (stopping.aborted) return;
      this.logger.error({ error, charge_id: id }, 'A refund could not be made yet; it is owed on.');
      await later(refundReference, key);
    }
  }
}
