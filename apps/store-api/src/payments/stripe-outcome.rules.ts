import Stripe from 'stripe';
import type { ChargeOutcome, ChargeRequest, ChargeUnderWay, RefundOutcome } from './payment-gateway.js';

/** @throws when the PaymentIntent is of another amount */
export function outcomeOf(
  { amount }: ChargeRequest,
  intent: Stripe.PaymentIntent,
): ChargeOutcome | ChargeUnderWay {
  if (intent.amount !== amount.amount || intent.currency !== amount.currency.toLowerCase())
    throw new Error('This idempotency key was used for another charge.');
  const reference = intent.id;
  switch (intent.status) {
    case 'succeeded':
      return { status: 'succeeded', at: chargedAt(intent), reference };
    case 'requires_payment_method':
    case 'requires_action': // the creator is not there to act
    case 'canceled':
      return { status: 'declined', reason: reasonOf(intent.last_payment_error) ?? intent.status, reference };
    default:
      return { status: 'under_way', reference };
  }
}

/** In whole seconds, when the bank was asked: a PaymentIntent may be older than its charge. */
function chargedAt({ latest_charge: charge, created }: Stripe.PaymentIntent): Date {
  return new Date((charge !== null && typeof charge === 'object' ? charge.created : created) * 1000);
}

/** Made, but never asked of the bank: Stripe broke in between. */
export function isUntried({ status, last_payment_error }: Stripe.PaymentIntent): boolean {
  return (
    status === 'requires_confirmation' ||
    (status === 'requires_payment_method' && last_payment_error === null)
  );
}

/** Of what was made for one charge, what tells the most: money that was taken comes first. */
export function furthest(intents: readonly Stripe.PaymentIntent[]): Stripe.PaymentIntent | undefined {
  return (
    intents.find(({ status }) => status === 'succeeded') ??
    intents.find(({ status }) => status === 'processing') ??
    intents.find(isUntried) ??
    intents[0]
  );
}

/** @param error one that is a verdict on this charge alone: a decline, or a payment method that cannot be used */
export function declineOf(error: unknown): ChargeOutcome {
  const known = error instanceof Stripe.errors.StripeError ? error : null;
  return {
    status: 'declined',
    reason: reasonOf(known) ?? 'payment_method_unusable',
    reference: known?.payment_intent?.id ?? null,
  };
}

/**
 * Stripe keeps what it answered under an idempotency key, its own errors too, and says when it repeats it
 * (https://docs.stripe.com/error-low-level#sending-idempotency-keys). A server error that is not repeated tells less: what stands
 * before Stripe's API may have given up on a request that still runs, and the next under the same key gets its answer.
 */
export function tellsSpentKey(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeError &&
    (error.statusCode ?? 0) >= 500 &&
    error.headers?.['idempotent-replayed'] === 'true'
  );
}

/** https://docs.stripe.com/api/refunds/object#refund_object-status */
export function refundOutcomeOf({ id, status, failure_reason }: Stripe.Refund): RefundOutcome {
  if (status === 'succeeded') return { status: 'refunded', reference: id };
  if (status === 'failed' || status === 'canceled')
    return { status: 'failed', reason: failure_reason ?? status };
  return { status: 'under_way', reference: id };
}

/** All of it; a refund that is pending counts, one that failed does not. */
export function tellsAlreadyRefunded(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'charge_already_refunded';
}

/** The bank's word if there is one, else Stripe's. The library makes a missing one the empty text. */
function reasonOf(
  error: { readonly decline_code?: string; readonly code?: string } | null,
): string | undefined {
  return error?.decline_code || error?.code;
}
