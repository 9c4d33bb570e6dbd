import { publicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { type ChargeResult, ChargeCircuit } from './charge-circuit.js';
import { PaymentGateway } from '../payments/payment-gateway.js';
import { FaultPoints } from '../fault-points.js';
import { type OpenCharge, openChargeColumns } from './open-charge.js';

const saveReference = statement(
  'charges.save-reference',
  `UPDATE charges SET provider_reference = $2 WHERE id = $1 AND status = 'pending'`,
);
// The customer is stored for the first key only. A payment method is attached to one customer at most, and
// unusable after it is detached (https://docs.stripe.com/api/payment_methods/detach), so charges of later
// keys have the same customer or none.
const markKeyUnusable = statement(
  'charges.mark-key-unusable',
  `UPDATE charges SET key_spent_at = now(), spent_customer = CASE key_number WHEN 1 THEN $3 ELSE spent_customer END
   WHERE id = $1 AND key_number = $2 AND key_spent_at IS NULL AND status = 'pending'`,
);
// Of several processes that found that nothing was charged, one gets the next key.
const useNextKey = statement(
  'charges.use-next-key',
  `UPDATE charges c SET key_number = key_number + 1, key_spent_at = NULL
   WHERE id = $1 AND key_number = $2 AND key_spent_at IS NOT NULL AND status = 'pending'
   RETURNING ${openChargeColumns('c')}`,
);

/** The longest pause between two attempts for an order. */
const maxRetryDelayMs = 300_000;
// Each pause is twice the one before. Does nothing when the order was settled or has a newer charge.
const scheduleRetry = statement(
  'orders.schedule-retry',
  `UPDATE orders SET resume_tries = resume_tries + 1,
                     resume_at = now() + least($3::int * 2 ^ least(resume_tries, 20), ${maxRetryDelayMs}) * interval '1 millisecond'
   WHERE id = $1 AND resume_at IS NOT NULL AND EXISTS (SELECT FROM charges WHERE id = $2 AND status = 'pending')`,
);

/**
 * Nest's token for the `ChargeOrder` of the completer. It uses the background pool and shares the circuit
 * breaker (docs/adr/0022).
 */
export const BACKGROUND_CHARGE_ORDER = Symbol('BACKGROUND_CHARGE_ORDER');

/**
 * Charges an order at the payment provider, with no transaction open. Without an outcome in time the order
 * stays pending and the completer retries, after a pause that doubles each time.
 */
@Injectable()
export class ChargeOrder {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentGateway,
    private readonly circuit: ChargeCircuit,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns the same use case on another connection pool. */
  withDatabase(database: Database): ChargeOrder {
    return new ChargeOrder(database, this.payments, this.circuit, this.faultPoints, this.config, this.logger);
  }

  /**
   * Never throws: an order that exists is charged now or later.
   * @param stopping aborts when the process ends; the order is then left to another replica
   */
  async run(charge: OpenCharge, stopping?: AbortSignal): Promise<ChargeResult> {
    try {
      const result = await this.chargeOnce(charge, stopping);
      this.faultPoints.pass('charged');
      // A suspended charge was not sent: it does not count as an attempt, and its pause stays short.
      const retryLater = typeof result === 'string' && result !== 'suspended' && !stopping?.aborted;
      if (retryLater)
        await this.database.run(scheduleRetry, [charge.orderId, charge.id, this.config.RESUME_AFTER_MS]);
      return result;
    } catch (error) {
      this.logger.error(
        { error, order_id: charge.orderId },
        'An order could not be charged; it will be resumed.',
      );
      return 'unknown';
    }
  }

  private chargeOnce(charge: OpenCharge, stopping?: AbortSignal): Promise<ChargeResult> {
    const user = stopping === undefined ? 'request' : 'completer';
    const send = (): Promise<ChargeResult> => {
      const timeout = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
      return this.send(charge, stopping === undefined ? timeout : AbortSignal.any([timeout, stopping]));
    };
    return this.circuit.run(user, charge, send, stopping);
  }

  private async send(charge: OpenCharge, signal: AbortSignal): Promise<ChargeResult> {
    const result = await this.payments.charge(
      {
        idempotencyKey: charge.id,
        orderId: publicId('ord', charge.orderId),
        amount: { amount: charge.amount, currency: charge.currency },
        paymentMethod: charge.paymentMethod,
        reference: charge.reference,
        since: charge.createdAt,
        ageMs: charge.ageMs,
        keyNumber: charge.keyNumber,
        keyUnusableForMs: charge.keyUnusableForMs,
        lookupCustomer: charge.lookupCustomer,
      },
      signal,
    );
    switch (result.status) {
      case 'succeeded':
      case 'declined':
        return result;
      case 'under_way':
        await this.database.run(saveReference, [charge.id, result.reference]);
        return 'under_way';
      case 'key_spent':
        await this.database.run(markKeyUnusable, [charge.id, charge.keyNumber, result.customer]);
        return 'key_spent';
      case 'nothing_charged': {
        const next = await this.database.row<OpenCharge>(useNextKey, [charge.id, charge.keyNumber]);
        this.faultPoints.pass('next-key-taken');
        return next === undefined ? 'unknown' : this.send(next, signal);
      }
    }
  }
}
