import { publicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { IdempotencyKeys, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import { type ChargeOutcome, PaymentGateway } from '../payments/payment-gateway.js';
import { FaultPoints } from './fault-points.js';
import type { OpenCharge } from './open-charge.js';
import { SettleOrder } from './settle-order.js';

const keepReference = statement(
  'charges.keep-reference',
  `UPDATE charges SET provider_reference = $2 WHERE id = $1 AND status = 'pending'`,
);

/** The middle phase: asks the provider, with no transaction open. Without an answer in time the order stays pending, and the completer asks again. */
@Injectable()
export class ChargeOrder {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentGateway,
    private readonly settleOrder: SettleOrder,
    private readonly keys: IdempotencyKeys,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never fails: once the order row is there, the caller gets its id. */
  async run(charge: OpenCharge): Promise<RememberedResponse> {
    const { orderId } = charge;
    const pending: RememberedResponse = { id: publicId('ord', orderId), status: 'pending' };
    try {
      const outcome = await this.ask(charge);
      this.faultPoints.pass('charged');
      if (outcome !== undefined) return await this.settleOrder.run(orderId, charge.id, outcome);
      await this.keys.rememberUnlessKnown(orderId, pending);
    } catch (error) {
      this.logger.error({ error, order_id: orderId }, 'An order could not be settled; it will be resumed.');
    }
    return pending;
  }

  private async ask(charge: OpenCharge): Promise<ChargeOutcome | undefined> {
    const signal = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
    try {
      const answer = await this.payments.charge(
        {
          idempotencyKey: charge.id,
          orderId: publicId('ord', charge.orderId),
          amount: { amount: charge.amount, currency: charge.currency },
          paymentMethod: charge.paymentMethod,
          reference: charge.reference,
          since: charge.createdAt,
        },
        signal,
      );
      if (answer.status !== 'under_way') return answer;
      await this.database.run(keepReference, [charge.id, answer.reference]);
    } catch (error) {
      this.logger.warn({ error, charge_id: charge.id }, 'The outcome of a charge is not known yet.');
    }
    return undefined;
  }
}
