import { setUpDatabase } from '../../test/scratch.fixture.js';
import { newCharge, timeoutMs } from '../open-charge.fixture.js';
import type { RefundRequest } from '../payment-gateway.js';
import { refundsPath, stripeGateway, type StripeGatewayUnderTest } from './stripe-gateway.fixture.js';
import { type FakeStripeFault, fakeStripeKey } from './fake-stripe.fixture.js';

/** https://docs.stripe.com/refunds */
describe('a refund by Stripe', () => {
  const scratch = setUpDatabase();
  let stripe: StripeGatewayUnderTest;
  beforeEach(async () => {
    stripe = await stripeGateway(scratch.database);
  });
  afterEach(() => stripe.api.stop());

  let chargeId: string;
  let reference: string | null;
  beforeEach(async () => {
    const openCharge = newCharge();
    chargeId = openCharge.id;
    reference = await stripe.intentOf(openCharge);
  });
  const refund = (given: Partial<RefundRequest> = {}) => stripe.refund(chargeId, reference, given);
  /** Sets the status of the first refund at Stripe. Returns its id. */
  const setRefundStatus = (status: string) => {
    const [refund] = stripe.api.refunds;
    if (refund !== undefined) refund.status = status;
    return refund?.id ?? '';
  };

  it.each([
    ['pending', 'succeeded', { status: 'refunded' }],
    ['requires_action', 'pending', { status: 'under_way' }],
    ['pending', 'failed', { status: 'failed', reason: 'failed' }],
    ['pending', 'canceled', { status: 'failed', reason: 'canceled' }],
  ])('that is %s is under way, and is read by its id when it is %s', async (first, then, outcome) => {
    stripe.api.refundWith(first);
    const underWay = await refund();
    const refundReference = setRefundStatus(then);
    expect(underWay).toEqual({ status: 'under_way', reference: refundReference });
    expect(await refund({ refundReference })).toMatchObject(outcome);
    expect(stripe.requestsTo(refundsPath)).toHaveLength(1);
  });

  it('is reported with its first status while its id is not stored, since Stripe repeats the response of the idempotency key', async () => {
    stripe.api.refundWith('pending');
    await refund();
    const refundReference = setRefundStatus('succeeded');
    expect(await refund()).toEqual({ status: 'under_way', reference: refundReference });
    expect(stripe.api.refunds).toHaveLength(1);
  });

  it('is repeated under the next key after a failure', async () => {
    stripe.api.refundWith('failed');
    expect(await refund()).toMatchObject({ status: 'failed' });
    expect(await refund()).toMatchObject({ status: 'refunded' });
    expect(stripe.api.refunds.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
    expect(stripe.requestsTo(refundsPath).at(-1)?.key).toBe(`${chargeId}:refund:2`);
  });

  it.each<[string, FakeStripeFault]>([
    ['before', 'broken-before'],
    ['after', 'broken-after'],
  ])('is made once when Stripe fails %s making it, and repeats its 500', async (_, fault) => {
    stripe.api.fail(refundsPath, fault);
    await expect(refund()).rejects.toThrow();
    expect(await refund()).toEqual({ status: 'failed', reason: 'unusable_key' });
    expect(await refund()).toMatchObject({ status: 'refunded' });
    expect(stripe.api.refunds).toHaveLength(1);
  });

  it('is under way while it is pending under another key', async () => {
    stripe.api.refundWith('pending');
    await refund();
    await stripe.keys.useNextForRefund({ id: chargeId, reference, isTest: false }, 1);
    expect(await refund()).toEqual({ status: 'under_way', reference: stripe.api.refunds[0]?.id });
    expect(stripe.requestsTo(refundsPath).at(-1)?.method).toBe('GET');
  });

  it('is not sent with an API key of the other mode (test or live)', async () => {
    stripe.api.setLiveMode();
    const other = stripe.open(fakeStripeKey); // the first gateway has checked the mode already
    const refund = { id: chargeId, reference, isTest: false, refundReference: null };
    await expect(other.refund(refund, AbortSignal.timeout(timeoutMs))).rejects.toThrow(/livemode_mismatch/);
    expect(stripe.requestsTo(refundsPath)).toEqual([]);
  });

  it('finds a charge whose id was not stored', async () => {
    const openCharge = newCharge();
    await stripe.charge(openCharge);
    await stripe.refund(openCharge.id, null);
    expect(stripe.requestsTo(refundsPath).map(({ key }) => key)).toEqual([`${openCharge.id}:refund`]);
    expect(stripe.api.refunds).toHaveLength(1);
  });
});
