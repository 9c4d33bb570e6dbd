import { publicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { IdempotencyKeys, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import { type Asked, ChargeCircuit } from '../payments/charge-circuit.js';
import { PaymentGateway } from '../payments/payment-gateway.js';
import { FaultPoints } from './fault-points.js';
import { type OpenCharge, openChargeColumns } from './open-charge.js';
import { SettleOrder } from './settle-order.js';

const keepReference = statement(
  'charges.keep-reference',
  `UPDATE charges SET provider_reference = $2 WHERE id = $1 AND status = 'pending'`,
);
// A payment method is attached to a customer once, and of no use after it is detached (https://docs.stripe.com/api/payment_methods/detach):
// under the first key's, or under nobody, stands what came of all of them.
const keepSpentKey = statement(
  'charges.keep-spent-key',
  `UPDATE charges SET key_spent_at = now(), spent_customer = CASE key_number WHEN 1 THEN $3 ELSE spent_customer END
   WHERE id = $1 AND key_number = $2 AND key_spent_at IS NULL AND status = 'pending'`,
);
// Of several who found that nothing was charged, one takes the next key.
const takeNextKey = statement(
  'charges.take-next-key',
  `UPDATE charges c SET key_number = key_number + 1, key_spent_at = NULL
   WHERE id = $1 AND key_number = $2 AND key_spent_at IS NOT NULL AND status = 'pending'
   RETURNING ${openChargeColumns('c')}`,
);

/** The longest pause between two times the provider is asked for an order. */
const mostPauseMs = 300_000;
// Each pause is twice the one before. An order that was settled meanwhile, or is charged anew, is not touched.
const askLater = statement(
  'orders.ask-later',
  `UPDATE orders SET resume_tries = resume_tries + 1,
                     resume_at = now() + least($3::int * 2 ^ least(resume_tries, 20), ${mostPauseMs}) * interval '1 millisecond'
   WHERE id = $1 AND resume_at IS NOT NULL AND EXISTS (SELECT FROM charges WHERE id = $2 AND status = 'pending')`,
);

/** Nest's token for the `ChargeOrder` of the completer, which uses the background pool and the same circuit breaker (docs/adr/0022). */
export const BACKGROUND_CHARGE_ORDER = Symbol('BACKGROUND_CHARGE_ORDER');

/**
 * The middle phase: asks the provider, with no transaction open. Without an outcome in time the order stays pending, and the completer asks
 * again, after a pause that grows each time.
 */
@Injectable()
export class ChargeOrder {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentGateway,
    private readonly circuit: ChargeCircuit,
    private readonly settleOrder: SettleOrder,
    private readonly keys: IdempotencyKeys,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The same on another connection pool. */
  withDatabase(database: Database): ChargeOrder {
    return new ChargeOrder(
      database,
      this.payments,
      this.circuit,
      this.settleOrder.withDatabase(database),
      new IdempotencyKeys(database),
      this.faultPoints,
      this.config,
      this.logger,
    );
  }

  /**
   * Never fails: once the order row is there, the caller gets its id.
   * @param stopping aborts when the order is to be left as it is, for who takes it up next
   */
  async run(charge: OpenCharge, stopping?: AbortSignal): Promise<RememberedResponse> {
    const { orderId } = charge;
    const pending: RememberedResponse = { id: publicId('ord', orderId), status: 'pending' };
    try {
      const outcome = await this.outcomeOf(charge, stopping);
      this.faultPoints.pass('charged');
      if (typeof outcome === 'object') return await this.settleOrder.run(orderId, charge.id, outcome);
      if (stopping?.aborted) return pending;
      // One that was not asked for is due when the row says, and counts as no try: the pause stays short.
      if (outcome !== 'suspended')
        await this.database.run(askLater, [orderId, charge.id, this.config.RESUME_AFTER_MS]);
      await this.keys.rememberUnlessKnown(orderId, pending);
    } catch (error) {
      this.logger.error({ error, order_id: orderId }, 'An order could not be settled; it will be resumed.');
    }
    return pending;
  }

  private outcomeOf(charge: OpenCharge, stopping?: AbortSignal): Promise<Asked> {
    const user = stopping === undefined ? 'request' : 'completer';
    const ask = (): Promise<Asked> => {
      const tooLate = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
      return this.ask(charge, stopping === undefined ? tooLate : AbortSignal.any([tooLate, stopping]));
    };
    return this.circuit.run(user, charge, ask, stopping);
  }

  private async ask(charge: OpenCharge, signal: AbortSignal): Promise<Asked> {
    const answer = await this.payments.charge(
      {
        idempotencyKey: charge.id,
        orderId: publicId('ord', charge.orderId),
        amount: { amount: charge.amount, currency: charge.currency },
        paymentMethod: charge.paymentMethod,
        reference: charge.reference,
        since: charge.createdAt,
        ageMs: charge.ageMs,
        keyNumber: charge.keyNumber,
        keySpentForMs: charge.keySpentForMs,
        spentCustomer: charge.spentCustomer,
      },
      signal,
    );
    switch (answer.status) {
      case 'succeeded':
      case 'declined':
        return answer;
      case 'under_way':
        await this.database.run(keepReference, [charge.id, answer.reference]);
        return 'under_way';
      case 'key_spent':
        await this.database.run(keepSpentKey, [charge.id, charge.keyNumber, answer.customer]);
        return 'key_spent';
      case 'nothing_charged': {
        const next = await this.database.row<OpenCharge>(takeNextKey, [charge.id, charge.keyNumber]);
        this.faultPoints.pass('next-key-taken');
        return next === undefined ? 'unknown' : this.ask(next, signal);
      }
    }
  }
}
