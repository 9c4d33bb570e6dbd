import Stripe from 'stripe';
import type { ChargeOutcome, OpenCharge, RefundOutcome, UnderWay } from '../payment-gateway.js';

/** Returns the outcome that a PaymentIntent shows. @throws when it has another amount than the charge */
export function outcomeOf({ amount }: OpenCharge, intent: Stripe.PaymentIntent): ChargeOutcome | UnderWay {
  if (intent.amount !== amount.amount || intent.currency !== amount.currency.toLowerCase())
    throw new Error('This idempotency key was used for another charge.');
  const reference = intent.id;
  switch (intent.status) {
    case 'succeeded':
      return { status: 'succeeded', chargedAt: chargeTime(intent), reference };
    case 'requires_payment_method':
    case 'requires_action': // the creator is absent and cannot act
    case 'canceled':
      return { status: 'declined', reason: reasonOf(intent.last_payment_error) ?? intent.status, reference };
    default:
      return { status: 'under_way', reference };
  }
}

/** Returns the time of the charge if it is known, else that of its PaymentIntent; both in whole seconds. */
function chargeTime({ latest_charge: charge, created }: Stripe.PaymentIntent): Date {
  return new Date((charge !== null && typeof charge === 'object' ? charge.created : created) * 1000);
}

/** Whether a PaymentIntent was created but never sent to the bank, because Stripe failed before that. */
export function awaitsConfirmation({ status, last_payment_error }: Stripe.PaymentIntent): boolean {
  return (
    status === 'requires_confirmation' ||
    (status === 'requires_payment_method' && last_payment_error === null)
  );
}

/** Of the PaymentIntents of a charge, picks one that succeeded, else one that may still succeed, else any. */
export function pickMostAdvanced(intents: readonly Stripe.PaymentIntent[]): Stripe.PaymentIntent | undefined {
  return (
    intents.find(({ status }) => status === 'succeeded') ??
    intents.find(({ status }) => status === 'processing') ??
    intents.find(awaitsConfirmation) ??
    intents[0]
  );
}

/** Returns the outcome for an error of Stripe. @param error a decline, or an unusable payment method */
export function declineOf(error: unknown): ChargeOutcome {
  const known = error instanceof Stripe.errors.StripeError ? error : null;
  return {
    status: 'declined',
    reason: reasonOf(known) ?? 'payment_method_unusable',
    reference: known?.payment_intent?.id ?? null,
  };
}

/**
 * Whether Stripe repeats a server error under an idempotency key. It stores its response under the key, a
 * server error too, and marks a repeated response
 * (https://docs.stripe.com/error-low-level#sending-idempotency-keys). A server error that is not marked is
 * inconclusive: a proxy of Stripe may have given up on a request that still runs, and a retry under the same
 * key gets its response.
 */
export function isUnusableKeyError(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeError &&
    (error.statusCode ?? 0) >= 500 &&
    error.headers?.['idempotent-replayed'] === 'true'
  );
}

/** Returns the outcome of a refund (https://docs.stripe.com/api/refunds/object#refund_object-status). */
export function refundOutcomeOf({ id, status, failure_reason }: Stripe.Refund): RefundOutcome | UnderWay {
  if (status === 'succeeded') return { status: 'refunded', reference: id };
  if (status === 'failed' || status === 'canceled')
    return { status: 'failed', reason: failure_reason ?? status };
  return { status: 'under_way', reference: id };
}

/** Whether the error means that the whole charge is refunded. Pending refunds count, failed ones do not. */
export function isAlreadyRefunded(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'charge_already_refunded';
}

/** Returns the bank's code, or Stripe's. Uses `||`, since Stripe's library may set a missing code to ''. */
function reasonOf(
  error: { readonly decline_code?: string; readonly code?: string } | null,
): string | undefined {
  return error?.decline_code || error?.code;
}
