import { setUpDatabase } from '../../test/scratch.fixture.js';
import { newCharge } from '../open-charge.fixture.js';
import type { OpenCharge } from '../payment-gateway.js';
import {
  hourMs,
  intentsPath,
  minuteMs,
  stripeGateway,
  type StripeGatewayUnderTest,
} from './stripe-gateway.fixture.js';
import type { FakeStripeFault } from './fake-stripe.fixture.js';

/** More PaymentIntents than the lookup reads for one charge: five pages, of 10 each at the fake. */
const tooMany = 51;
const broken = { type: 'api_error', message: 'Something went wrong.' };

/** https://docs.stripe.com/error-low-level#server-errors */
describe('after a 500 that Stripe repeats under the idempotency key, the gateway', () => {
  const scratch = setUpDatabase();
  let stripe: StripeGatewayUnderTest;
  beforeEach(async () => {
    stripe = await stripeGateway(scratch.database);
  });
  afterEach(() => stripe.api.stop());

  const unusableKeyError = /repeats a server error under the idempotency key/;
  /** Sends a charge whose key becomes unusable. Returns it as if that was found two minutes ago. */
  const withUnusableKey = async (
    fault: FakeStripeFault,
    given: Partial<OpenCharge> = {},
  ): Promise<OpenCharge> => {
    const openCharge = newCharge(given);
    stripe.api.fail(intentsPath, fault);
    await expect(stripe.charge(openCharge)).rejects.toThrow();
    await expect(stripe.charge(openCharge)).rejects.toThrow(unusableKeyError);
    await stripe.ageKey(openCharge.id, 2 * minuteMs);
    return openCharge;
  };
  /** The idempotency keys of all requests to create a PaymentIntent. */
  const sentKeys = () =>
    stripe.requestsTo(intentsPath).flatMap(({ method, key }) => (method === 'POST' ? [key] : []));

  it('charges once, under the next key, when the lookup finds no charge', async () => {
    const openCharge = await withUnusableKey('broken-before');
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    const first = openCharge.id;
    expect(sentKeys()).toEqual([first, first, `${first}:2`, `${first}:2`]);
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('neither looks up the charge nor uses another key before Stripe had time to recover', async () => {
    const openCharge = await withUnusableKey('broken-before');
    await stripe.ageKey(openCharge.id, minuteMs / 4);
    const before = stripe.api.requests.length;
    await expect(stripe.charge(openCharge)).rejects.toThrow(unusableKeyError);
    expect(stripe.api.requests).toHaveLength(before);
  });

  it('finds the charge, which the search does not contain yet, among others of the customer', async () => {
    stripe.api.delaySearch();
    const openCharge = await withUnusableKey('broken-after');
    const [intent] = stripe.api.intents();
    const others = 12; // more than a page of the fake
    for (let count = 0; count < others; count += 1) await stripe.charge(newCharge());
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded', reference: intent?.id });
    expect(stripe.api.intents()).toHaveLength(others + 1);
  });

  it('finds the charge from before the payment method had a customer', async () => {
    stripe.api.delaySearch();
    stripe.api.attachTo(null);
    const openCharge = await withUnusableKey('broken-after');
    stripe.api.attachTo('cus_later');
    expect(await stripe.charge(openCharge)).toMatchObject({ reference: stripe.api.intents()[0]?.id });
  });

  it("lists only the customer's own charges", async () => {
    const openCharge = await withUnusableKey('broken-before');
    stripe.api.attachTo('cus_other');
    for (let others = 0; others < tooMany; others += 1) await stripe.charge(newCharge());
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(sentKeys().at(-1)).toBe(`${openCharge.id}:2`);
  });

  it.each([
    ['charges under the next key', 'before', 'broken-before', 2],
    ['finds the charge', 'after', 'broken-after', 1],
  ] as const)(
    'searches after an hour when the list is too long, and %s when Stripe failed %s charging',
    async (_result, _moment, fault, keysUsed) => {
      const openCharge = await withUnusableKey(fault);
      for (let others = 0; others < tooMany; others += 1) await stripe.charge(newCharge());
      await stripe.ageKey(openCharge.id, hourMs - 10 * minuteMs);
      await expect(stripe.charge(openCharge)).rejects.toThrow(unusableKeyError);
      await stripe.ageKey(openCharge.id, hourMs);
      expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
      expect(new Set(sentKeys().filter((key) => key?.startsWith(openCharge.id))).size).toBe(keysUsed);
      expect(stripe.api.intents()).toHaveLength(tooMany + 1);
    },
  );

  it('finds the charge on the first pages of a list that is too long', async () => {
    stripe.api.delaySearch();
    for (let others = 0; others < tooMany; others += 1) await stripe.charge(newCharge());
    const openCharge = await withUnusableKey('broken-after');
    expect(await stripe.charge(openCharge)).toMatchObject({ reference: stripe.api.intents().at(-1)?.id });
  });

  it('returns the decline that the lookup finds', async () => {
    const openCharge = await withUnusableKey('broken-after', { paymentMethod: 'pm_card_insufficientFunds' });
    expect(await stripe.charge(openCharge)).toMatchObject({
      status: 'declined',
      reason: 'insufficient_funds',
    });
  });

  it.each([
    ['pm_card_visa', { status: 'succeeded' }],
    ['pm_card_chargeDeclined', { status: 'declined', reason: 'generic_decline' }],
  ])('confirms a PaymentIntent that was created but not confirmed (%s)', async (paymentMethod, outcome) => {
    const openCharge = await withUnusableKey('broken-between', { paymentMethod });
    expect(await stripe.charge(openCharge)).toMatchObject({
      ...outcome,
      reference: stripe.api.intents()[0]?.id,
    });
    expect(await stripe.charge(openCharge)).toMatchObject(outcome);
    expect(stripe.api.intents()).toHaveLength(1);
  });

  it('uses a late success of an earlier key as the outcome, whatever the result of the later key', async () => {
    const first = await withUnusableKey('broken-between');
    const [late] = stripe.api.intents();
    expect(await stripe.keys.useNext(first, 1)).toBe(true);
    stripe.api.fail(intentsPath, 'broken-between');
    await expect(stripe.charge(first)).rejects.toThrow();
    await expect(stripe.charge(first)).rejects.toThrow(unusableKeyError);
    if (late !== undefined) late.status = 'succeeded'; // Stripe rolled it forward
    await stripe.ageKey(first.id, 2 * minuteMs);
    expect(await stripe.charge(first)).toMatchObject({ reference: late?.id });
    expect(stripe.api.intents().filter(({ status }) => status === 'succeeded')).toHaveLength(1);
  });

  it('uses no other key when another process has found the charge since the lookup', async () => {
    const openCharge = await withUnusableKey('broken-after');
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(await stripe.keys.useNext(openCharge, 1)).toBe(false);
  });

  it('does not treat a 5xx of a proxy as an unusable key', async () => {
    const openCharge = newCharge();
    stripe.api.fail(intentsPath, { status: 504, error: broken }, { status: 500, error: broken });
    await expect(stripe.charge(openCharge)).rejects.toThrow();
    await expect(stripe.charge(openCharge)).rejects.toThrow();
    expect(await stripe.charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(new Set(sentKeys())).toEqual(new Set([openCharge.id]));
  });
});
