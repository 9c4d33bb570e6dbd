import { Database, statement } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { once } from 'node:events';
import { type ChargeOutcome, PaymentGateway, type ChargeRequest } from './payment-gateway.js';

const book = statement(
  'sandbox.book',
  `INSERT INTO sandbox_charges (idempotency_key, amount, currency, payment_method, outcome) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (idempotency_key) DO UPDATE SET idempotency_key = excluded.idempotency_key
   RETURNING outcome, charged_at, (xmax = 0) AS first`,
);
const giveBack = statement(
  'sandbox.refund',
  `UPDATE sandbox_charges SET refunded_at = now() WHERE idempotency_key = $1 AND outcome = 'succeeded' AND refunded_at IS NULL`,
);

/**
 * A provider that moves no money. The payment method decides: `pm_declined` is declined, `pm_timeout` is charged but the
 * first answer never comes (a repetition under the same key gets it), everything else succeeds.
 */
@Injectable()
export class SandboxPaymentGateway extends PaymentGateway {
  constructor(private readonly database: Database) {
    super();
  }

  async charge(
    { idempotencyKey, amount, paymentMethod }: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome> {
    const booked = await this.database.row<{ outcome: string; charged_at: Date; first: boolean }>(book, [
      idempotencyKey,
      amount.amount,
      amount.currency,
      paymentMethod,
      paymentMethod === 'pm_declined' ? 'declined' : 'succeeded',
    ]);
    if (booked === undefined) throw new Error('The sandbox did not book the charge.');
    if (paymentMethod === 'pm_timeout' && booked.first) await answerNever(signal);
    if (booked.outcome === 'declined') return { status: 'declined', reason: 'card_declined' };
    return { status: 'succeeded', at: booked.charged_at };
  }

  async refund(idempotencyKey: string): Promise<void> {
    await this.database.run(giveBack, [idempotencyKey]);
  }
}

async function answerNever(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw new Error('The provider did not answer in time.');
}
