import { publicId } from '@fulfilment/contracts';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { IdempotencyKeys, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import { type ChargeOutcome, PaymentGateway, type ChargeRequest } from '../payments/payment-gateway.js';
import { SettleOrder } from './settle-order.js';

/** An order whose charge has no outcome yet. */
export interface OpenCharge extends ChargeRequest {
  readonly orderId: string;
}

/** The middle phase: asks the provider, with no transaction open. Without an answer in time the order stays pending, and the completer asks again. */
@Injectable()
export class ChargeOrder {
  constructor(
    private readonly payments: PaymentGateway,
    private readonly settleOrder: SettleOrder,
    private readonly keys: IdempotencyKeys,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never fails: once the order row is there, the caller gets its id. */
  async run({ orderId, ...charge }: OpenCharge): Promise<RememberedResponse> {
    const pending: RememberedResponse = { id: publicId('ord', orderId), status: 'pending' };
    try {
      const outcome = await this.ask(charge);
      if (outcome !== undefined) return await this.settleOrder.run(orderId, charge.idempotencyKey, outcome);
      await this.keys.rememberUnlessKnown(orderId, pending);
    } catch (error) {
      this.logger.error({ error, order_id: orderId }, 'An order could not be settled; it will be resumed.');
    }
    return pending;
  }

  private async ask(charge: ChargeRequest): Promise<ChargeOutcome | undefined> {
    const signal = AbortSignal.timeout(this.config.PAYMENT_TIMEOUT_MS);
    try {
      return await this.payments.charge(charge, signal);
    } catch (error) {
      this.logger.warn(
        { error, charge_id: charge.idempotencyKey },
        'The outcome of a charge is not known yet.',
      );
      return undefined;
    }
  }
}
