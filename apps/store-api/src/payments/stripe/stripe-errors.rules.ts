import Stripe from 'stripe';
import { PaymentProviderError } from '../payment-gateway.js';

/** Meaning of Stripe's error for a charge. */
type StripeErrorClass =
  /** The bank or Stripe rejected this charge permanently. Nothing was charged. */
  | 'declined'
  /** Stripe cannot use this payment method: the creator's problem, unless our API key is wrong. */
  | 'payment_method'
  /** Stripe rejects our key, account or request, as it would for every charge. */
  | 'rejected'
  /** No response, or one without a result. */
  | 'unavailable'
  /** An error of this request only, without its outcome. */
  | 'unknown';

/**
 * Codes that reject one card or one amount (https://docs.stripe.com/error-codes). Any other rejection,
 * including future codes, leaves the order pending.
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

/** Declines caused by a test key with a real card (https://docs.stripe.com/declines/codes). */
const keyModeDeclineCodes = new Set(['test_mode_live_card']);

/**
 * Returns the meaning of an error for the charge that it ended.
 * @param payment whether the payment method had a customer before the charge; by default, yes
 */
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
  // A payment method without a customer is unusable after one use or once detached; Stripe's error then has
  // no code.
  if (status === 400 && !error.code && !payment.methodHasCustomer) return 'payment_method';
  return 'rejected';
}

function isDecline(error: Stripe.errors.StripeError): boolean {
  if (error.decline_code && keyModeDeclineCodes.has(error.decline_code)) return false;
  if (error instanceof Stripe.errors.StripeCardError)
    return Boolean(error.decline_code) || declineCodes.has(error.code ?? '');
  return error.statusCode === 400 && declineCodes.has(error.code ?? '');
}

/** Maps an error of Stripe's library to an error of `PaymentGateway`. Returns other errors unchanged. */
export function toPaymentError(error: unknown): unknown {
  switch (classifyStripeError(error)) {
    case 'unavailable':
      return new PaymentProviderError('unavailable', codeOf(error), { cause: error });
    case 'declined': // only by other requests: a declined charge is an outcome (`declineOf`)
    case 'payment_method':
    case 'rejected':
      return new PaymentProviderError('rejected', codeOf(error), { cause: error });
    case 'unknown':
      return error;
  }
}

export function unusablePaymentMethod(error: unknown): PaymentProviderError {
  return new PaymentProviderError('payment_method_unusable', codeOf(error), { cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) return 'unknown';
  return error.decline_code || error.code || error.type || String(error.statusCode);
}

/** Whether a read failed because Stripe has no such object under our API key. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    (error.statusCode === 404 || error.code === 'resource_missing')
  );
}
