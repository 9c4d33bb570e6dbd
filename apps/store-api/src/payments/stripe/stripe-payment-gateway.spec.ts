import { publicId } from '@fulfilment/contracts';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { setUpDatabase } from '../../test/scratch.fixture.js';
import { newCharge } from '../open-charge.fixture.js';
import { CheckProviderKey } from '../check-provider-key.js';
import {
  hourMs,
  intentsPath,
  refundsPath,
  stripeGateway,
  type StripeGatewayUnderTest,
} from './stripe-gateway.fixture.js';
import type { FakeStripeFault } from './fake-stripe.fixture.js';

/** Behaviour of Stripe only; payment-gateway.spec.ts tests the contract of every provider. */
describe('the Stripe payment gateway', () => {
  const scratch = setUpDatabase();
  let stripe: StripeGatewayUnderTest;
  beforeEach(async () => {
    stripe = await stripeGateway(scratch.database);
  });
  afterEach(() => stripe.api.stop());

  it("creates and confirms in one request, with the charge's key and without personal data", async () => {
    const openCharge = newCharge({ amount: { amount: 4800, currency: 'JPY' } });
    const outcome = await stripe.charge(openCharge);
    expect(outcome).toMatchObject({ status: 'succeeded', reference: stripe.api.intents()[0]?.id });
    const [sent] = stripe.requestsTo(intentsPath);
    expect(sent?.key).toBe(openCharge.id);
    expect(Object.fromEntries(sent?.form ?? [])).toEqual({
      amount: '4800',
      currency: 'jpy',
      payment_method: 'pm_card_visa',
      'allowed_payment_method_types[0]': 'card',
      customer: 'cus_fake',
      confirm: 'true',
      off_session: 'true',
      'metadata[order_id]': publicId('ord', openCharge.orderId),
      'metadata[charge_id]': openCharge.id,
      'expand[0]': 'latest_charge',
    });
  });

  it.each(['listPayments', 'listFailedRefunds'] as const)(
    'ends %s when it is aborted during a request without a response',
    async (list) => {
      const path = list === 'listPayments' ? intentsPath : refundsPath;
      stripe.api.fail(path, 'silent');
      const stopping = new AbortController();
      const range = { from: new Date(0), to: new Date() };
      const pages = stripe.gateway[list](range, stopping.signal)[Symbol.asyncIterator]();
      const page = pages.next();
      await eventually(() => stripe.requestsTo(path).length > 0);
      stopping.abort();
      await expect(page).rejects.toMatchObject({ failure: 'unavailable' });
    },
    30_000, // ms; less than the timeout of Stripe's library (`timeoutMs`), which would end the request, too
  );

  const unknownMethod = () => newCharge({ paymentMethod: 'pm_unknown' });

  it.each([
    ['generic_decline', 'pm_card_chargeDeclined', 2999],
    ['authentication_required', 'pm_card_authenticationRequired', 2999],
    ['amount_too_large', 'pm_card_visa', 100_000_000],
  ])('treats %s as a decline', async (reason, paymentMethod, amount) => {
    const outcome = await stripe.charge(newCharge({ paymentMethod, amount: { amount, currency: 'GBP' } }));
    expect(outcome).toMatchObject({ status: 'declined', reason });
  });

  it('rejects each charge of a payment method that Stripe does not have, while the API key has found none yet', async () => {
    await expect(stripe.charge(unknownMethod())).rejects.toMatchObject({
      failure: 'payment_method_unusable',
    });
    await expect(stripe.charge(unknownMethod())).rejects.toMatchObject({
      failure: 'payment_method_unusable',
    });
    expect(stripe.api.intents()).toEqual([]);
  });

  it('treats a payment method that Stripe does not have as a decline after the API key has found another one', async () => {
    await stripe.charge(newCharge());
    expect(await stripe.charge(unknownMethod())).toMatchObject({
      status: 'declined',
      reason: 'resource_missing',
    });
  });

  it('treats a payment method that was detached from its customer as a decline', async () => {
    stripe.api.attachTo(null);
    const error = { type: 'invalid_request_error', message: 'It may not be used again.' };
    stripe.api.fail(intentsPath, { status: 400, error });
    expect(await stripe.charge(newCharge())).toMatchObject({
      status: 'declined',
      reason: 'payment_method_unusable',
    });
  });

  const invalid = (code: string, param?: string) => ({
    type: 'invalid_request_error',
    code,
    param,
    message: 'No.',
  });
  const cardError = (code: string, decline_code?: string) => ({
    type: 'card_error',
    code,
    decline_code,
    message: 'No.',
  });
  it.each<[number, string, object]>([
    [400, 'resource_missing of a customer', invalid('resource_missing', 'customer')],
    [400, 'testmode_charges_only', invalid('testmode_charges_only')],
    [402, 'testmode_charges_only', cardError('testmode_charges_only')],
    [402, 'test_mode_live_card', cardError('card_declined', 'test_mode_live_card')],
    [400, 'account_closed', invalid('account_closed')],
    [400, 'platform_account_required', invalid('platform_account_required')],
    [400, 'parameter_unknown', invalid('parameter_unknown', 'off_session')],
    [400, 'payment_method_unactivated', invalid('payment_method_unactivated')],
    [400, 'a code of the future', invalid('something_new')],
    [400, 'an error without a code', { type: 'invalid_request_error', message: 'No.' }],
    [401, 'an unknown API key', { type: 'invalid_request_error', message: 'No.' }],
    [403, 'an API key without permission', { type: 'invalid_request_error', message: 'No.' }],
  ])(
    'treats %i %s as a failure on our side, and charges once when it is corrected',
    async (status, _, error) => {
      const openCharge = newCharge();
      stripe.api.fail(intentsPath, { status, error });
      await expect(stripe.charge(openCharge)).rejects.toMatchObject({ failure: 'rejected' });
      expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
      expect(stripe.api.intents()).toHaveLength(1);
    },
  );

  it('sends no charge with an API key of the other mode (test or live)', async () => {
    stripe.api.setLiveMode();
    await expect(stripe.gateway.checkKey()).rejects.toThrow(/livemode_mismatch/);
    await expect(stripe.charge(newCharge())).rejects.toMatchObject({ failure: 'rejected' });
    expect(stripe.api.intents()).toEqual([]);
  });

  it('charges with a restricted API key that may not read the balance', async () => {
    const error = { type: 'invalid_request_error', message: 'The key may not read the balance.' };
    stripe.api.fail('/v1/balance', { status: 403, error });
    expect(await stripe.charge(newCharge())).toMatchObject({ status: 'succeeded' });
  });

  const busy = { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'In use.' };
  const limited = { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests.' };
  const broken = { type: 'api_error', message: 'Something went wrong.' };
  const unavailable = { failure: 'unavailable' };
  it.each<[string, readonly FakeStripeFault[], object]>([
    ['409, the key is in use', [{ status: 409, error: busy }], { statusCode: 409 }],
    ['429', [{ status: 429, error: limited }], unavailable],
    ['400 as a rate limit', [{ status: 400, error: limited }], unavailable],
    ['503', [{ status: 503, error: broken }], unavailable],
    // Twice: Stripe's library repeats a request once after a closed connection.
    ['a connection cut before the charge', ['lost-request', 'lost-request'], unavailable],
    ['a connection cut after the charge', ['lost-response', 'lost-response'], unavailable],
  ])('throws after %s, and charges once on a retry', async (_, faults, error) => {
    const openCharge = newCharge();
    stripe.api.fail(intentsPath, ...faults);
    await expect(stripe.charge(openCharge)).rejects.toMatchObject(error);
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('throws when a response does not end before the timeout, and charges once on a retry', async () => {
    const openCharge = newCharge();
    stripe.api.fail(intentsPath, 'dripping');
    const charging = stripe.gateway.charge(openCharge, AbortSignal.timeout(400));
    await expect(charging).rejects.toMatchObject(unavailable);
    // Stripe may receive the request after the timeout.
    await eventually(() => stripe.requestsTo(intentsPath).length === 1);
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('charges nothing with an API key that Stripe rejects', async () => {
    const other = stripe.open('sk_test_other');
    await expect(stripe.charge(newCharge(), other)).rejects.toMatchObject({ failure: 'rejected' });
    expect(stripe.api.intents()).toEqual([]);
  });

  it.each([
    ['error', 401, { type: 'invalid_request_error', message: 'No.' }, 'rejects our key'],
    ['warn', 503, broken, 'could not be checked'],
  ])(
    'logs at the level %s when the check of the API key at start gets %i',
    async (level, status, error, sentence) => {
      const lines: string[] = [];
      const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
      stripe.api.fail('/v1/balance', { status, error });
      new CheckProviderKey(stripe.gateway, logger).start();
      const line: unknown = JSON.parse(await eventually(() => lines[0]));
      expect(line).toMatchObject({ level, message: expect.stringContaining(sentence) });
    },
  );

  it('returns the time of the charge, which may be after that of the PaymentIntent', async () => {
    stripe.api.confirmWith('processing');
    const openCharge = newCharge();
    await stripe.charge(openCharge);
    const [intent] = stripe.api.intents();
    if (intent?.latest_charge == null) throw new Error('Nothing was charged.');
    intent.status = 'succeeded';
    intent.latest_charge.created = intent.created + 3_600;
    const outcome = await stripe.charge({ ...openCharge, reference: intent.id });
    expect(outcome).toMatchObject({ chargedAt: new Date((intent.created + 3_600) * 1000) });
  });

  it('reads a charge that was under way by the id of its PaymentIntent, without its idempotency key', async () => {
    stripe.api.confirmWith('processing');
    const openCharge = newCharge();
    const underWay = await stripe.charge(openCharge);
    const [intent] = stripe.api.intents();
    expect(underWay).toEqual({ status: 'under_way', reference: intent?.id });
    if (intent !== undefined) intent.status = 'succeeded';
    stripe.api.deleteKeys();
    const reference = intent?.id ?? null;
    expect(await stripe.charge({ ...openCharge, reference })).toMatchObject({
      status: 'succeeded',
      reference,
    });
    expect(stripe.api.intents()).toHaveLength(1);
  });

  describe('when Stripe may have deleted the idempotency key', () => {
    it('finds the existing charge, and creates no other', async () => {
      const openCharge = newCharge({ createdAt: new Date(Date.now() - 24 * hourMs) });
      stripe.api.fail(intentsPath, 'lost-response', 'lost-response');
      await expect(stripe.charge(openCharge)).rejects.toThrow();
      stripe.api.deleteKeys();
      const [intent] = stripe.api.intents();
      expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded', reference: intent?.id });
      expect(stripe.api.intents()).toHaveLength(1);
    });

    it('charges when there is no existing charge', async () => {
      const openCharge = newCharge({ createdAt: new Date(Date.now() - 24 * hourMs) });
      expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
      expect(stripe.api.intents()).toHaveLength(1);
    });

    it('returns the existing refund, and creates no other', async () => {
      const openCharge = newCharge();
      const reference = await stripe.intentOf(openCharge);
      const first = await stripe.refund(openCharge.id, reference);
      stripe.api.deleteKeys();
      expect(await stripe.refund(openCharge.id, reference)).toEqual(first);
      expect(stripe.api.refunds).toHaveLength(1);
    });
  });

  it('finds the charge that an earlier version created with other parameters', async () => {
    const openCharge = newCharge();
    const reference = await stripe.intentOf(openCharge);
    expect(
      await stripe.charge({ ...openCharge, orderId: '00000000-0000-7000-8000-000000000002' }),
    ).toMatchObject({
      reference,
    });
    expect(stripe.api.intents()).toHaveLength(1);
  });
});
