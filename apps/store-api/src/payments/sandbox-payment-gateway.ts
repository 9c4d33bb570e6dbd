import { publicId } from '@fulfilment/contracts';
import { Database, keysetPages, statement } from '@fulfilment/database';
import { once } from 'node:events';
import {
  type Charge,
  type ChargeOutcome,
  type OpenCharge,
  PaymentGateway,
  type ProviderPayment,
  type RefundOutcome,
  type RefundRequest,
  type TimeRange,
} from './payment-gateway.js';

const pageSize = 500;

// The no-op update returns the row of an earlier request. `isFirst`: there was no earlier one, since `xmax`
// is 0 in an inserted row; `isSame`: the row is for the same charge.
const insertCharge = statement(
  'sandbox.insert-charge',
  `INSERT INTO sandbox_charges (idempotency_key, amount, currency, payment_method, outcome, order_id) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (idempotency_key) DO UPDATE SET idempotency_key = excluded.idempotency_key
   RETURNING outcome, charged_at, (xmax = 0) AS "isFirst",
             (amount, currency, payment_method) = ($2::bigint, $3::text, $4::text) AS "isSame"`,
);
const markRefunded = statement(
  'sandbox.refund',
  `UPDATE sandbox_charges SET refunded_at = coalesce(refunded_at, now()) WHERE idempotency_key = $1 AND outcome = 'succeeded'`,
);

const paymentColumns =
  'NULL AS reference, idempotency_key AS "chargeId", refunded_at IS NOT NULL AS refunded';
const readPayments = statement(
  'sandbox.payments',
  `SELECT ${paymentColumns} FROM sandbox_charges
   WHERE outcome = 'succeeded' AND charged_at >= $1 AND charged_at < $2 AND idempotency_key > $3
   ORDER BY idempotency_key LIMIT ${pageSize}`,
);
const readPayment = statement(
  'sandbox.payment',
  `SELECT ${paymentColumns} FROM sandbox_charges WHERE idempotency_key = $1 AND outcome = 'succeeded'`,
);

/**
 * A provider that moves no money. The payment method decides the outcome: `pm_declined` is declined;
 * `pm_timeout` is charged, but the first request of each charge gets no response; everything else succeeds.
 * The charges are in `sandbox_charges`, and committed separately from the order, as a provider's would be.
 */
export class SandboxPaymentGateway extends PaymentGateway {
  constructor(private readonly database: Database) {
    super();
  }

  checkKey(): Promise<void> {
    return Promise.resolve(); // the sandbox has no key
  }

  async charge(
    { id, orderId, amount, paymentMethod }: OpenCharge,
    signal: AbortSignal,
  ): Promise<ChargeOutcome> {
    const charge = await this.database.row<{
      outcome: string;
      charged_at: Date;
      isFirst: boolean;
      isSame: boolean;
    }>(insertCharge, [
      id,
      amount.amount,
      amount.currency,
      paymentMethod,
      paymentMethod === 'pm_declined' ? 'declined' : 'succeeded',
      publicId('ord', orderId),
    ]);
    if (charge === undefined) throw new Error('The sandbox did not record the charge.');
    // As Stripe does: https://docs.stripe.com/api/idempotent_requests
    if (!charge.isSame) throw new Error('This idempotency key was used for another charge.');
    if (paymentMethod === 'pm_timeout' && charge.isFirst) await neverRespond(signal);
    if (charge.outcome === 'declined')
      return { status: 'declined', reason: 'card_declined', reference: null };
    return { status: 'succeeded', chargedAt: charge.charged_at, reference: null };
  }

  async refund({ id }: RefundRequest): Promise<RefundOutcome> {
    const charges = await this.database.run(markRefunded, [id]);
    if (charges === 0) throw new Error('There is no successful charge for this idempotency key.');
    return { status: 'refunded', reference: null };
  }

  find({ id }: Charge): Promise<ProviderPayment | undefined> {
    return this.database.row<ProviderPayment>(readPayment, [id]);
  }

  listPayments({ from, to }: TimeRange): AsyncIterable<readonly ProviderPayment[]> {
    return keysetPages<ProviderPayment>(pageSize, (last) =>
      this.database.rows(readPayments, [from, to, last?.chargeId ?? '']),
    );
  }

  async *listFailedRefunds(): AsyncGenerator<string[]> {
    // No refund of the sandbox fails.
  }
}

/** Rejects when the signal aborts. */
async function neverRespond(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw new Error('The provider did not respond in time.');
}
