import Stripe from 'stripe';
import { PaymentProviderError } from '../payment-gateway.js';
import {
  classifyStripeError,
  isMissing,
  toPaymentError,
  unusablePaymentMethod,
} from './stripe-errors.rules.js';

const invalidRequest = (statusCode: number, members: object = {}) =>
  Object.assign(new Stripe.errors.StripeInvalidRequestError(), { statusCode, ...members });
const cardError = (members: object) =>
  Object.assign(new Stripe.errors.StripeCardError(), { statusCode: 402, ...members });
const apiError = (statusCode: number) => Object.assign(new Stripe.errors.StripeAPIError(), { statusCode });

describe('an error of Stripe', () => {
  it.each([
    [
      'a card declined by the bank',
      cardError({ code: 'card_declined', decline_code: 'generic' }),
      'declined',
    ],
    ['a card declined without a code of the bank', cardError({ code: 'expired_card' }), 'declined'],
    ['an unknown code of the bank', cardError({ code: 'new', decline_code: 'new' }), 'declined'],
    ['an unknown card error', cardError({ code: 'new' }), 'rejected'],
    ['a card error without a code', cardError({}), 'rejected'],
    [
      'a real card with a test key',
      cardError({ code: 'card_declined', decline_code: 'test_mode_live_card' }),
      'rejected',
    ],
    ['an amount that Stripe rejects', invalidRequest(400, { code: 'amount_too_small' }), 'declined'],
    ['a decline code with another status', invalidRequest(403, { code: 'amount_too_small' }), 'rejected'],
    [
      'an unknown payment method',
      invalidRequest(400, { code: 'resource_missing', param: 'payment_method' }),
      'payment_method',
    ],
    ['a payment method with another status', invalidRequest(403, { param: 'payment_method' }), 'rejected'],
    [
      'another invalid parameter',
      invalidRequest(400, { code: 'parameter_invalid', param: 'amount' }),
      'rejected',
    ],
    ['an error without a code', invalidRequest(400), 'rejected'],
    [
      'a state that does not fit',
      invalidRequest(400, { code: 'payment_intent_unexpected_state' }),
      'unknown',
    ],
    ['a concurrent request', invalidRequest(409), 'unknown'],
    ['a reused key', new Stripe.errors.StripeIdempotencyError(), 'unknown'],
    ['a lost connection', new Stripe.errors.StripeConnectionError(), 'unavailable'],
    ['a rate limit', new Stripe.errors.StripeRateLimitError(), 'unavailable'],
    ['a server error', apiError(500), 'unavailable'],
    ['the highest status below a server error', apiError(499), 'rejected'],
    ['an error of our own', new Error('x'), 'unknown'],
  ])('is classified: %s', (_, error, expected) => {
    expect(classifyStripeError(error)).toBe(expected);
  });

  it('without a code is about the payment method if that has no customer', () => {
    const payment = { methodHasCustomer: false };
    expect(classifyStripeError(invalidRequest(400), payment)).toBe('payment_method');
    expect(classifyStripeError(invalidRequest(400, { code: 'new' }), payment)).toBe('rejected');
    expect(classifyStripeError(invalidRequest(403), payment)).toBe('rejected');
  });

  it.each([
    [
      'the code of the bank',
      cardError({ code: 'card_declined', decline_code: 'lost_card' }),
      'rejected',
      'lost_card',
    ],
    [
      'its code',
      invalidRequest(400, { code: 'resource_missing', param: 'payment_method' }),
      'rejected',
      'resource_missing',
    ],
    ['its type', invalidRequest(401), 'rejected', 'StripeInvalidRequestError'],
    ['its type', apiError(503), 'unavailable', 'StripeAPIError'],
  ])('becomes an error of the payment provider with %s', (_, error, failure, code) => {
    expect(toPaymentError(error)).toMatchObject({ failure, code, cause: error });
    expect(toPaymentError(error)).toBeInstanceOf(PaymentProviderError);
  });

  it('stays the same if it shows no failure of the provider', () => {
    const error = invalidRequest(409);
    expect(toPaymentError(error)).toBe(error);
  });

  it('about an unusable payment method has a code, also if Stripe did not throw it', () => {
    expect(unusablePaymentMethod(invalidRequest(400, { code: 'new' }))).toMatchObject({
      failure: 'payment_method_unusable',
      code: 'new',
    });
    expect(unusablePaymentMethod(new Error('x')).code).toBe('unknown');
  });

  it.each([
    [invalidRequest(404), true],
    [invalidRequest(400, { code: 'resource_missing' }), true],
    [invalidRequest(400), false],
    [apiError(404), false],
    [new Error('x'), false],
  ])('shows a missing object only as a 404 or by its code (%#)', (error, expected) => {
    expect(isMissing(error)).toBe(expected);
  });
});
