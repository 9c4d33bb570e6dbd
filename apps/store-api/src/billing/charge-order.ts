import { type Sql, statement } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { FaultPoints } from '../fault-points.js';
import { type ChargeOutcome, type OpenCharge, PaymentGateway } from '../payments/payment-gateway.js';
import { ChargeSender } from './charge-sender.js';
import type { CircuitUser } from './payment-circuit-breaker.js';
import { inProviderSpan } from './provider-span.js';

const saveReference = statement(
  'charges.save-reference',
  `UPDATE charges SET provider_reference = $2 WHERE id = $1 AND status = 'pending'`,
);

/** The longest pause between two attempts for an order. */
const maxRetryDelayMs = 300_000;
// Each pause is twice the one before; 20 limits the exponent, so that the power cannot overflow. Does nothing
// once the charge is settled.
const scheduleRetry = statement(
  'orders.schedule-retry',
  `UPDATE orders SET resume_tries = resume_tries + 1,
                     resume_at = now() + least($3::int * 2 ^ least(resume_tries, 20), ${maxRetryDelayMs}) * interval '1 millisecond'
   WHERE id = $1 AND resume_at IS NOT NULL AND EXISTS (SELECT FROM charges WHERE id = $2 AND status = 'pending')`,
);

/**
 * Charges an order at the payment provider, with no transaction open. Without an outcome in time the charge
 * stays pending and the completer retries, after a pause that doubles each time up to `maxRetryDelayMs`.
 */
@Injectable()
export class ChargeOrder {
  constructor(
    private readonly payments: PaymentGateway,
    private readonly sender: ChargeSender,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Never throws: after an error the completer retries. Returns undefined without an outcome.
   * @param sql the pool of requests, or the background pool of the completer (ADR 22)
   * @param stopping aborts when the completer stops. The order is then left to another replica
   */
  async run(
    sql: Sql,
    charge: OpenCharge,
    user: CircuitUser,
    stopping?: AbortSignal,
  ): Promise<ChargeOutcome | undefined> {
    const send = () => this.requestCharge(charge, stopping);
    try {
      const result = await this.sender.run(charge, user, send, stopping);
      this.faultPoints.pass('charged');
      if (result.status === 'succeeded' || result.status === 'declined') return result;
      if (result.status === 'under_way') await sql.run(saveReference, [charge.id, result.reference]);
      // A suspended charge was not sent: it does not count as an attempt, and its pause stays short.
      if (result.status !== 'suspended' && !stopping?.aborted)
        await sql.run(scheduleRetry, [charge.orderId, charge.id, this.config.RESUME_AFTER_MS]);
    } catch (error) {
      this.logger.error(
        { error, order_id: charge.orderId },
        'An order could not be charged; the completer will retry.',
      );
    }
    return undefined;
  }

  private requestCharge(charge: OpenCharge, stopping?: AbortSignal) {
    const timeout = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
    const signal = stopping ? AbortSignal.any([timeout, stopping]) : timeout;
    return inProviderSpan('charge', charge, this.config.PAYMENT_PROVIDER, () =>
      this.payments.charge(charge, signal),
    );
  }
}
