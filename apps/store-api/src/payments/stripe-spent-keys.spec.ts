import type { ChargeRequest } from './payment-gateway.js';
import {
  hourMs,
  intentsPath,
  minuteMs,
  stripeGateway,
  type StripeGatewayUnderTest,
} from './stripe-gateway.fixture.js';
import type { FakeStripeFault } from './fake-stripe.fixture.js';

/** More than are looked through for one charge, in the stand-in's short pages. */
const tooMany = 51;
const broken = { type: 'api_error', message: 'Something went wrong.' };

/** https://docs.stripe.com/error-low-level#server-errors */
describe('when Stripe breaks and repeats its 500 under the key, the gateway', () => {
  let stripe: StripeGatewayUnderTest;
  beforeEach(async () => {
    stripe = await stripeGateway();
  });
  afterEach(() => stripe.api.stop());

  /** The request as it stands two minutes after the key has been found to be spent. */
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

  it('charges once, under the next key, when its books have no charge', async () => {
    const what = await spent('broken-before');
    expect(await stripe.charge(what)).toEqual({ status: 'nothing_charged' });
    const next = { ...what, keyNumber: 2, keyUnusableForMs: null };
    expect(await stripe.charge(next)).toMatchObject({ status: 'succeeded' });
    expect(await stripe.charge(next)).toMatchObject({ status: 'succeeded' });
    const first = what.idempotencyKey;
    expect(keys()).toEqual([first, first, `${first}:2`, `${first}:2`]);
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('does not look, nor ask under another key, before Stripe had time to mend it', async () => {
    const what = await spent('broken-before');
    const before = stripe.api.requests.length;
    expect(await stripe.charge({ ...what, keyUnusableForMs: minuteMs / 2 })).toMatchObject({
      status: 'key_spent',
    });
    expect(stripe.api.requests).toHaveLength(before);
  });

  it('finds the charge that was made, which searching does not know, among others of the customer', async () => {
    stripe.api.letSearchBeBehind();
    const what = await spent('broken-after');
    const [made] = stripe.api.intents();
    for (let others = 0; others < 12; others += 1) await stripe.charge(stripe.request());
    expect(await stripe.charge(what)).toMatchObject({ status: 'succeeded', reference: made?.id });
    expect(stripe.api.intents()).toHaveLength(13);
  });

  it('finds the charge that was made before the payment method had a customer', async () => {
    stripe.api.letSearchBeBehind();
    stripe.api.attachTo(null);
    const what = await spent('broken-after');
    stripe.api.attachTo('cus_later');
    expect(await stripe.charge(what)).toMatchObject({ reference: stripe.api.intents()[0]?.id });
  });

  it("looks among the customer's own charges alone", async () => {
    const what = await spent('broken-before');
    stripe.api.attachTo('cus_other');
    for (let others = 0; others < tooMany; others += 1) await stripe.charge(stripe.request());
    expect(await stripe.charge(what)).toEqual({ status: 'nothing_charged' });
  });

  it.each([
    ['broken-before', { status: 'nothing_charged' }],
    ['broken-after', { status: 'succeeded' }],
  ] as const)(
    'searches, once searching knows all, where there is too much to look through (%s)',
    async (fault, outcome) => {
      const what = await spent(fault);
      for (let others = 0; others < tooMany; others += 1) await stripe.charge(stripe.request());
      expect(await stripe.charge({ ...what, keyUnusableForMs: hourMs - 1 })).toMatchObject({
        status: 'key_spent',
      });
      expect(await stripe.charge({ ...what, keyUnusableForMs: hourMs })).toMatchObject(outcome);
    },
  );

  it('finds the decline', async () => {
    const what = await spent('broken-after', { paymentMethod: 'pm_card_insufficientFunds' });
    expect(await stripe.charge(what)).toMatchObject({ status: 'declined', reason: 'insufficient_funds' });
  });

  it.each([
    ['pm_card_visa', { status: 'succeeded' }],
    ['pm_card_chargeDeclined', { status: 'declined', reason: 'generic_decline' }],
  ])('goes on with what was made and not confirmed (%s)', async (paymentMethod, outcome) => {
    const what = await spent('broken-between', { paymentMethod });
    expect(await stripe.charge(what)).toMatchObject({
      ...outcome,
      reference: stripe.api.intents()[0]?.id,
    });
    expect(await stripe.charge(what)).toMatchObject(outcome);
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('takes the money of an earlier key that came late for the outcome, whatever became of the later one', async () => {
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

  it('does not take a 5xx from before the API for the end of a key', async () => {
    const what = stripe.request();
    stripe.api.fail(intentsPath, { status: 504, error: broken }, { status: 500, error: broken });
    await expect(stripe.charge(what)).rejects.toThrow();
    await expect(stripe.charge(what)).rejects.toThrow();
    expect(await stripe.charge(what)).toMatchObject({ status: 'succeeded' });
    expect(new Set(keys())).toEqual(new Set([what.idempotencyKey]));
  });
});
