import Stripe from 'stripe';
import { z } from 'zod';
import { newCharge } from '../open-charge.fixture.js';
import {
  awaitsConfirmation,
  declineOf,
  isAlreadyRefunded,
  isUnusableKeyError,
  outcomeOf,
  pickMostAdvanced,
  refundOutcomeOf,
} from './stripe-outcome.rules.js';

const charge = newCharge({ amount: { amount: 2999, currency: 'GBP' } });
const intent = (members: object) =>
  z.custom<Stripe.PaymentIntent>().parse({
    id: 'pi_1',
    amount: 2999,
    currency: 'gbp',
    created: 1_000,
    latest_charge: null,
    last_payment_error: null,
    ...members,
  });
const refund = (members: object) => z.custom<Stripe.Refund>().parse({ id: 're_1', ...members });
const errorOf = (members: object) => Object.assign(new Stripe.errors.StripeAPIError(), members);

describe('a PaymentIntent', () => {
  it.each([
    ['requires_payment_method', 'declined'],
    ['requires_action', 'declined'],
    ['canceled', 'declined'],
    ['processing', 'under_way'],
    ['requires_confirmation', 'under_way'],
  ])('that is %s means that the charge is %s', (status, expected) => {
    expect(outcomeOf(charge, intent({ status }))).toMatchObject({ status: expected, reference: 'pi_1' });
  });

  it('that succeeded has the time of its charge, or its own if the charge is not known', () => {
    const timeOf = (latest_charge: unknown) =>
      outcomeOf(charge, intent({ status: 'succeeded', latest_charge }));
    const succeeded = { status: 'succeeded', reference: 'pi_1' };
    expect(timeOf({ created: 2_000 })).toEqual({ ...succeeded, chargedAt: new Date(2_000_000) });
    expect(timeOf('ch_1')).toEqual({ ...succeeded, chargedAt: new Date(1_000_000) });
    expect(timeOf(null)).toEqual({ ...succeeded, chargedAt: new Date(1_000_000) });
  });

  it.each([
    [{ code: 'card_declined', decline_code: 'lost_card' }, 'lost_card'],
    [{ code: 'card_declined', decline_code: '' }, 'card_declined'],
    [null, 'canceled'],
  ])(
    "declines with the bank's code, else with Stripe's, else with its status (%#)",
    (last_payment_error, reason) => {
      expect(outcomeOf(charge, intent({ status: 'canceled', last_payment_error }))).toMatchObject({ reason });
    },
  );

  it.each([{ amount: 2998 }, { currency: 'usd' }])(
    'with another amount is not that of the charge (%p)',
    (other) => {
      expect(() => outcomeOf(charge, intent({ status: 'succeeded', ...other }))).toThrow(
        'used for another charge',
      );
    },
  );

  it.each([
    ['requires_confirmation', null, true],
    ['requires_payment_method', null, true],
    ['requires_payment_method', {}, false],
    ['processing', null, false],
  ])('that is %s, with the error %p, awaits its confirmation: %p', (status, last_payment_error, expected) => {
    expect(awaitsConfirmation(intent({ status, last_payment_error }))).toBe(expected);
  });

  it('is picked by its progress, whatever its position', () => {
    const declined = intent({ id: 'declined', status: 'canceled' });
    const unsent = intent({ id: 'unsent', status: 'requires_confirmation' });
    const processing = intent({ id: 'processing', status: 'processing' });
    const succeeded = intent({ id: 'succeeded', status: 'succeeded' });
    expect(pickMostAdvanced([declined, unsent, processing, succeeded])).toBe(succeeded);
    expect(pickMostAdvanced([declined, unsent, processing])).toBe(processing);
    expect(pickMostAdvanced([declined, unsent])).toBe(unsent);
    expect(pickMostAdvanced([declined])).toBe(declined);
    expect(pickMostAdvanced([])).toBeUndefined();
  });
});

describe('an error of a charge at Stripe', () => {
  it.each([
    [
      errorOf({ code: 'card_declined', decline_code: 'lost_card', payment_intent: { id: 'pi_1' } }),
      'lost_card',
      'pi_1',
    ],
    [errorOf({}), 'payment_method_unusable', null],
    [new Error('x'), 'payment_method_unusable', null],
  ])('becomes a decline with its reason and PaymentIntent (%#)', (error, reason, reference) => {
    expect(declineOf(error)).toEqual({ status: 'declined', reason, reference });
  });

  it.each([
    [500, { 'idempotent-replayed': 'true' }, true],
    [499, { 'idempotent-replayed': 'true' }, false],
    [500, { 'idempotent-replayed': 'false' }, false],
    [500, undefined, false],
    [undefined, { 'idempotent-replayed': 'true' }, false],
  ])('with the status %p and the headers %p shows an unusable key: %p', (statusCode, headers, expected) => {
    expect(isUnusableKeyError(errorOf({ statusCode, headers }))).toBe(expected);
  });

  it('of another library shows no unusable key', () => {
    const error = Object.assign(new Error('x'), {
      statusCode: 500,
      headers: { 'idempotent-replayed': 'true' },
    });
    expect(isUnusableKeyError(error)).toBe(false);
  });
});

describe('a refund at Stripe', () => {
  it.each([
    [{ status: 'succeeded' }, { status: 'refunded', reference: 're_1' }],
    [
      { status: 'failed', failure_reason: 'lost_or_stolen_card' },
      { status: 'failed', reason: 'lost_or_stolen_card' },
    ],
    [{ status: 'failed' }, { status: 'failed', reason: 'failed' }],
    [{ status: 'canceled' }, { status: 'failed', reason: 'canceled' }],
    [{ status: 'pending' }, { status: 'under_way', reference: 're_1' }],
    [{ status: 'requires_action' }, { status: 'under_way', reference: 're_1' }],
  ])('with %p has the outcome %p', (members, outcome) => {
    expect(refundOutcomeOf(refund(members))).toEqual(outcome);
  });

  it('of a refunded charge is recognised by the code of an invalid request', () => {
    const invalidRequest = (code: string) =>
      Object.assign(new Stripe.errors.StripeInvalidRequestError(), { code });
    expect(isAlreadyRefunded(invalidRequest('charge_already_refunded'))).toBe(true);
    expect(isAlreadyRefunded(invalidRequest('resource_missing'))).toBe(false);
    expect(isAlreadyRefunded(errorOf({ code: 'charge_already_refunded' }))).toBe(false);
  });
});
