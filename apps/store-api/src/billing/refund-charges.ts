import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { LOGGER, type Logger, SlotLoop } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { PaymentGateway, type RefundRequest } from '../payments/payment-gateway.js';
import { FaultPoints } from '../fault-points.js';
import { inProviderSpan } from './provider-span.js';

const pollIntervalMs = 2_000;
/** Concurrent refunds of this process. */
const slots = 10;
/** Time for writing the result after the provider's timeout. Then another replica may claim the refund. */
const leaseMarginMs = 5_000;

// A refund without `refund_at` is due immediately. The attempt is counted when it is claimed, so that no two
// attempts have the same number.
const claimRefunds = statement(
  'charges.claim-refunds',
  `UPDATE charges c SET refund_at = now() + $1::int * interval '1 millisecond', refund_tries = refund_tries + 1
   FROM (SELECT id FROM charges WHERE status = 'refund_due' AND (refund_at IS NULL OR refund_at <= now())
         ORDER BY refund_at NULLS FIRST LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
   WHERE c.id = due.id
   RETURNING c.id, c.provider_reference AS reference, c.refund_reference AS "refundReference", c.refund_tries AS attempt, c.test AS "isTest"`,
);
// Retries after 1, 2, 4 and so on up to 64 minutes, so that a refund that fails or takes days does not delay
// others. A late result of an earlier attempt schedules no retry. A late confirmation still marks the charge
// as refunded (`markRefunded`).
const scheduleRefundRetry = statement(
  'charges.schedule-refund-retry',
  `UPDATE charges SET refund_at = now() + interval '1 minute' * 2 ^ least(refund_tries - 1, 6), refund_reference = $3
   WHERE id = $1 AND status = 'refund_due' AND refund_tries = $2`,
);
const markRefunded = statement(
  'charges.mark-refunded',
  `UPDATE charges SET status = 'refunded', refund_reference = coalesce($2, refund_reference) WHERE id = $1 AND status = 'refund_due'`,
);

interface DueRefund extends RefundRequest {
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/**
 * Refunds charges that are due. A charge is `refund_due` until the provider confirms the refund. Any number
 * of replicas may run: a refund that waits for the provider during shutdown is left to another, after its
 * lease.
 */
@Injectable()
export class RefundCharges extends SlotLoop<DueRefund> {
  /** Stops first, so that no refund starts while the service shuts down. */
  override readonly stopsBeforeHttp = true;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly payments: PaymentGateway,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({
      name: 'refund-charges',
      intervalMs: pollIntervalMs,
      logger,
      slots,
      claim: (max) =>
        this.database.rows<DueRefund>(claimRefunds, [config.PAYMENT_TIMEOUT_MS + leaseMarginMs, max]),
      work: (request, stopping) => this.refund(request, stopping),
    });
  }

  private async refund(due: DueRefund, stopping: AbortSignal): Promise<void> {
    const { id, attempt, refundReference } = due;
    const retryLater = (reference: string | null) =>
      this.database.run(scheduleRefundRetry, [id, attempt, reference]);
    try {
      const timeout = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
      const signal = AbortSignal.any([timeout, stopping]);
      const result = await inProviderSpan('refund', due, this.config.PAYMENT_PROVIDER, () =>
        this.payments.refund(due, signal),
      );
      this.faultPoints.pass('refunded');
      switch (result.status) {
        case 'refunded':
          await this.database.run(markRefunded, [id, result.reference]);
          break;
        case 'under_way':
          await retryLater(result.reference);
          break;
        case 'failed':
          this.logger.error(
            { charge_id: id, reason: result.reason },
            'The payment provider reported a failed refund; will retry.',
          );
          await retryLater(null);
      }
    } catch (error) {
      if (stopping.aborted) return;
      this.logger.error({ error, charge_id: id }, 'A refund could not be confirmed; will retry.');
      await retryLater(refundReference);
    }
  }
}
