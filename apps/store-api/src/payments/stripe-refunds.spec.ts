import type { RefundRequest } from './payment-gateway.js';
import { refundsPath, stripeGateway, type StripeGatewayUnderTest } from './stripe-gateway.fixture.js';
import { type FakeStripeFault, fakeStripeKey } from './fake-stripe.fixture.js';

/** https://docs.stripe.com/refunds */
describe('a refund by Stripe', () => {
  let stripe: StripeGatewayUnderTest;
  beforeEach(async () => {
    stripe = await stripeGateway();
  });
  afterEach(() => stripe.api.stop());

  let chargeId: string;
  let reference: string | null;
  beforeEach(async () => {
    const what = stripe.request();
    chargeId = what.idempotencyKey;
    reference = await stripe.charged(what);
  });
  const refund = (given: Partial<RefundRequest> = {}) => stripe.refund(chargeId, reference, given);
  const becomes = (status: string) => {
    const [made] = stripe.api.refunds;
    if (made !== undefined) made.status = status;
    return made?.id ?? '';
  };

  it.each([
    ['pending', 'succeeded', { status: 'refunded' }],
    ['requires_action', 'pending', { status: 'under_way' }],
    ['pending', 'failed', { status: 'failed', reason: 'failed' }],
    ['pending', 'canceled', { status: 'failed', reason: 'canceled' }],
  ])(
    'that is %s is under way, and is asked after by its name when it is %s',
    async (first, then, outcome) => {
      stripe.api.refundWith(first);
      const underWay = await refund();
      const refundReference = becomes(then);
      expect(underWay).toEqual({ status: 'under_way', reference: refundReference });
      expect(await refund({ refundReference })).toMatchObject(outcome);
      expect(stripe.requestsTo(refundsPath)).toHaveLength(1);
    },
  );

  it('whose name was not kept is told as at first by its key: its name tells more', async () => {
    stripe.api.refundWith('pending');
    await refund();
    const refundReference = becomes('succeeded');
    expect(await refund()).toEqual({ status: 'under_way', reference: refundReference });
    expect(stripe.api.refunds).toHaveLength(1);
  });

  it('that failed is made again under the next key', async () => {
    stripe.api.refundWith('failed');
    expect(await refund()).toMatchObject({ status: 'failed' });
    expect(await refund()).toMatchObject({ status: 'failed' });
    expect(await refund({ refundKeyNumber: 2 })).toMatchObject({ status: 'refunded' });
    expect(stripe.api.refunds.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
    expect(stripe.requestsTo(refundsPath).at(-1)?.key).toBe(`${chargeId}:refund:2`);
  });

  it.each<FakeStripeFault>(['broken-before', 'broken-after'])(
    'is made once when Stripe breaks and repeats its 500 (%s)',
    async (fault) => {
      stripe.api.fail(refundsPath, fault);
      await expect(refund()).rejects.toThrow();
      expect(await refund()).toEqual({ status: 'failed', reason: 'key_spent' });
      expect(await refund({ refundKeyNumber: 2 })).toMatchObject({ status: 'refunded' });
      expect(stripe.api.refunds).toHaveLength(1);
    },
  );

  it('that another key finds made, but pending, is under way', async () => {
    stripe.api.refundWith('pending');
    await refund();
    expect(await refund({ refundKeyNumber: 2 })).toEqual({
      status: 'under_way',
      reference: becomes('pending'),
    });
  });

  it('is not sent by a key whose account is in the other mode', async () => {
    stripe.api.beLive();
    const other = stripe.open(fakeStripeKey);
    const refund = { idempotencyKey: chargeId, reference, refundReference: null, refundKeyNumber: 1 };
    await expect(other.refund(refund, AbortSignal.timeout(2_000))).rejects.toThrow(/livemode_mismatch/);
    expect(stripe.requestsTo(refundsPath)).toEqual([]);
  });

  it('refunds a charge whose name was not kept', async () => {
    const what = stripe.request();
    await stripe.charge(what);
    await stripe.refund(what.idempotencyKey, null);
    expect(stripe.requestsTo(refundsPath).map(({ key }) => key)).toEqual([`${what.idempotencyKey}:refund`]);
    expect(stripe.api.refunds).toHaveLength(1);
  });
});
