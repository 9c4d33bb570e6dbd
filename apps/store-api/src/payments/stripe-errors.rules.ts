import Stripe from 'stripe';
import {
  PaymentMethodUnusable,
  PaymentProviderRejected,
  PaymentProviderUnavailable,
} from './payment-gateway.js';

/** What Stripe's error says about a charge that was asked for. */
export type StripeErrorClass =
  /** The bank or Stripe rejected this charge for good: nothing was charged. */
  | 'declined'
  /** Stripe cannot use this payment method under this key: the creator's fault if the key is right, ours if it is not. */
  | 'payment_method'
  /** Stripe rejects what every charge of ours would meet: our key, our account, our request. */
  | 'rejected'
  /** No response, or none that says anything. */
  | 'unavailable'
  /** It concerns this request alone, and says nothing about its outcome. */
  | 'unknown';

/**
 * Codes that are verdicts on one card or one amount (https://docs.stripe.com/error-codes). Every other rejection, also one that Stripe
 * invents tomorrow, leaves the order pending.
 */
const declineCodes = new Set([
  'amount_too_large',
  'amount_too_small',
  'authentication_required',
  'card_decline_rate_limit_exceeded',
  'card_declined',
  'expired_card',
  'incorrect_address',
  'incorrect_cvc',
  'incorrect_number',
  'incorrect_zip',
  'insufficient_funds',
  'invalid_card_type',
  'invalid_cvc',
  'invalid_expiry_month',
  'invalid_expiry_year',
  'invalid_number',
  'payment_intent_authentication_failure',
  'payment_method_currency_mismatch',
  'payment_method_customer_decline',
  'payment_method_not_available',
  'payment_method_provider_decline',
  'processing_error',
  'transaction_not_allowed',
]);

/** Declines that come of a test key with real cards (https://docs.stripe.com/declines/codes). */
const keyModeDeclineCodes = new Set(['test_mode_live_card']);

/** @param payment what Stripe said of the payment method before the charge */
export function classifyStripeError(
  error: unknown,
  payment: { readonly methodHasCustomer: boolean } = { methodHasCustomer: true },
): StripeErrorClass {
  if (!(error instanceof Stripe.errors.StripeError)) return 'unknown';
  const status = error.statusCode ?? 0;
  if (error instanceof Stripe.errors.StripeConnectionError) return 'unavailable';
  if (error instanceof Stripe.errors.StripeRateLimitError || status >= 500) return 'unavailable';
  if (error instanceof Stripe.errors.StripeIdempotencyError || status === 409) return 'unknown';
  if (error.code === 'payment_intent_unexpected_state') return 'unknown';
  if (isDecline(error)) return 'declined';
  if (status === 400 && error.param === 'payment_method') return 'payment_method';
  // A payment method without a customer is spent after one use or once detached; Stripe's error then has no code.
  if (status === 400 && !error.code && !payment.methodHasCustomer) return 'payment_method';
  return 'rejected';
}

function isDecline(error: Stripe.errors.StripeError): boolean {
  if (error.decline_code && keyModeDeclineCodes.has(error.decline_code)) return false;
  if (error instanceof Stripe.errors.StripeCardError)
    return Boolean(error.decline_code) || declineCodes.has(error.code ?? '');
  return error.statusCode === 400 && declineCodes.has(error.code ?? '');
}

/** The port's error for what Stripe's library throws. */
export function paymentError(error: unknown): unknown {
  switch (classifyStripeError(error)) {
    case 'unavailable':
      return new PaymentProviderUnavailable('Stripe did not respond.', { cause: error });
    case 'declined': // of a request that charges nobody
    case 'payment_method':
    case 'rejected':
      return new PaymentProviderRejected(codeOf(error), { cause: error });
    case 'unknown':
      return error;
  }
}

export function unusablePaymentMethod(error: unknown): PaymentMethodUnusable {
  return new PaymentMethodUnusable(codeOf(error), { cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) return 'unknown';
  return error.decline_code || error.code || error.type || String(error.statusCode);
}

/** Of a read: Stripe has no such object under our key. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    (error.statusCode === 404 || error.code === 'resource_missing')
  );
}
