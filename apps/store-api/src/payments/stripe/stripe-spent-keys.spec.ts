import type { ChargeRequest } from '../payment-gateway.js';
import {
  hourMs,
  intentsPath,
  minuteMs,
  stripeGateway,
  type StripeGatewayUnderTest,
} from './stripe-gateway.fixture.js';
import type { FakeStripeFault } from './fake-stripe.fixture.js';

/** More PaymentIntents than the lookup reads for one charge, with the fake's short pages. */
const tooMany = 51;
const broken = { type: 'api_error', message: 'Something went wrong.' };

/** https://docs.stripe.com/error-low-level#server-errors */
describe('after a 500 that Stripe repeats under the key, the gateway', () => {
  let stripe: StripeGatewayUnderTest;
  beforeEach(async () => {
    stripe = await stripeGateway();
  });
  afterEach(() => stripe.api.stop());

  /** The request two minutes after the key was found to be unusable. */
  const spent = async (
    fault: FakeStripeFault,
    given: Partial<ChargeRequest> = {},
  ): Promise<ChargeRequest> => {
    const what = stripe.request(given);
    stripe.api.fail(intentsPath, fault);
    await expect(stripe.charge(what)).rejects.toThrow();
    const outcome = await stripe.charge(what);
    if (outcome.status !== 'key_spent') throw new Error(`The charge is ${outcome.status}.`);
    return { ...what, keyUnusableForMs: 2 * minuteMs, lookupCustomer: outcome.customer };
  };
  const keys = () =>
    stripe.requestsTo(intentsPath).flatMap(({ method, key }) => (method === 'POST' ? [key] : []));

  it('charges once, under the next key, when the lookup finds no charge', async () => {
    const what = await spent('broken-before');
    expect(await stripe.charge(what)).toEqual({ status: 'nothing_charged' });
    const next = { ...what, keyNumber: 2, keyUnusableForMs: null };
    expect(await stripe.charge(next)).toMatchObject({ status: 'succeeded' });
    expect(await stripe.charge(next)).toMatchObject({ status: 'succeeded' });
    const first = what.idempotencyKey;
    expect(keys()).toEqual([first, first, `${first}:2`, `${first}:2`]);
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('neither looks up the charge nor uses another key before Stripe had time to recover', async () => {
    const what = await spent('broken-before');
    const before = stripe.api.requests.length;
    expect(await stripe.charge({ ...what, keyUnusableForMs: minuteMs / 2 })).toMatchObject({
      status: 'key_spent',
    });
    expect(stripe.api.requests).toHaveLength(before);
  });

  it('finds the charge, which the search does not contain yet, among others of the customer', async () => {
    stripe.api.delaySearch();
    const what = await spent('broken-after');
    const [made] = stripe.api.intents();
    for (let others = 0; others < 12; others += 1) await stripe.charge(stripe.request());
    expect(await stripe.charge(what)).toMatchObject({ status: 'succeeded', reference: made?.id });
    expect(stripe.api.intents()).toHaveLength(13);
  });

  it('finds the charge from before the payment method had a customer', async () => {
    stripe.api.delaySearch();
    stripe.api.attachTo(null);
    const what = await spent('broken-after');
    stripe.api.attachTo('cus_later');
    expect(await stripe.charge(what)).toMatchObject({ reference: stripe.api.intents()[0]?.id });
  });

  it("lists only the customer's own charges", async () => {
    const what = await spent('broken-before');
    stripe.api.attachTo('cus_other');
    for (let others = 0; others < tooMany; others += 1) await stripe.charge(stripe.request());
    expect(await stripe.charge(what)).toEqual({ status: 'nothing_charged' });
  });

  it.each([
    ['broken-before', { status: 'nothing_charged' }],
    ['broken-after', { status: 'succeeded' }],
  ] as const)(
    'searches, after the delay of the search, when the list is too long (%s)',
    async (fault, outcome) => {
      const what = await spent(fault);
      for (let others = 0; others < tooMany; others += 1) await stripe.charge(stripe.request());
      expect(await stripe.charge({ ...what, keyUnusableForMs: hourMs - 1 })).toMatchObject({
        status: 'key_spent',
      });
      expect(await stripe.charge({ ...what, keyUnusableForMs: hourMs })).toMatchObject(outcome);
    },
  );

  it('finds a decline', async () => {
    const what = await spent('broken-after', { paymentMethod: 'pm_card_insufficientFunds' });
    expect(await stripe.charge(what)).toMatchObject({ status: 'declined', reason: 'insufficient_funds' });
  });

  it.each([
    ['pm_card_visa', { status: 'succeeded' }],
    ['pm_card_chargeDeclined', { status: 'declined', reason: 'generic_decline' }],
  ])('confirms a PaymentIntent that was created but not confirmed (%s)', async (paymentMethod, outcome) => {
    const what = await spent('broken-between', { paymentMethod });
    expect(await stripe.charge(what)).toMatchObject({
      ...outcome,
      reference: stripe.api.intents()[0]?.id,
    });
    expect(await stripe.charge(what)).toMatchObject(outcome);
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('uses a late success of an earlier key as the outcome, whatever the result of the later key', async () => {
    const first = await spent('broken-between');
    const [late] = stripe.api.intents();
    const second = { ...first, keyNumber: 2, keyUnusableForMs: null };
    stripe.api.fail(intentsPath, 'broken-between');
    await expect(stripe.charge(second)).rejects.toThrow();
    expect(await stripe.charge(second)).toMatchObject({ status: 'key_spent' });
    if (late !== undefined) late.status = 'succeeded'; // Stripe rolled it forward
    expect(await stripe.charge({ ...second, keyUnusableForMs: 2 * minuteMs })).toMatchObject({
      reference: late?.id,
    });
    expect(stripe.api.intents().filter(({ status }) => status === 'succeeded')).toHaveLength(1);
  });

  it('does not treat a 5xx of a proxy as an unusable key', async () => {
    const what = stripe.request();
    stripe.api.fail(intentsPath, { status: 504, error: broken }, { status: 500, error: broken });
    await expect(stripe.charge(what)).rejects.toThrow();
    await expect(stripe.charge(what)).rejects.toThrow();
    expect(await stripe.charge(what)).toMatchObject({ status: 'succeeded' });
    expect(new Set(keys())).toEqual(new Set([what.idempotencyKey]));
  });
});
