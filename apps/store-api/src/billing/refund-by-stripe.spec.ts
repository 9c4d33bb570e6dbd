import { statement } from '@fulfilment/database';
import { jest } from '@jest/globals';
import { PaymentGateway, type RefundOutcome, type UnderWay } from '../payments/payment-gateway.js';
import type { Creator } from '../test/store-api.fixture.js';
import { RefundCharges } from './refund-charges.js';
import { type StripeOrders, stripeOrders } from './stripe-orders.fixture.js';

const refundsDueNow = statement(
  'test.refunds-due-now',
  "UPDATE charges SET refund_at = now() WHERE status = 'refund_due'",
);
/** Makes the next attempt the fourth; the pause after it is eight minutes. */
const countThreeAttempts = statement(
  'test.count-three-attempts',
  "UPDATE charges SET refund_tries = 3 WHERE status = 'refund_due'",
);

describe('cancelled orders that were charged by Stripe', () => {
  let orders: StripeOrders;
  let stripe: StripeOrders['stripe'];
  let store: StripeOrders['store'];

  beforeAll(async () => {
    orders = await stripeOrders();
    ({ stripe, store } = orders);
  });
  afterAll(() => orders.stop());

  const charge = async (creator: Creator) => (await orders.helpers.charges(creator))[0];
  const placeAndCancel = async () => {
    const placed = await orders.place('pm_card_visa');
    const settledAt = (await charge(placed.creator))?.settledAt;
    await orders.cancel(placed.order);
    return {
      ...placed,
      settledAt,
      refunds: () => stripe.refunds.filter((refund) => refund.payment_intent === placed.intents()[0]?.id),
    };
  };
  const status = async (creator: Creator) => (await charge(creator))?.status;
  const paymentStatus = async (creator: Creator, order: { id: string }) =>
    (await store.readOrder(creator, order.id)).billing.payment_status;
  /** Makes refunds due and runs a round. */
  const retryRefunds = async () => {
    await store.database.run(refundsDueNow);
    await store.resumeOrdersAndRefunds();
  };
  /** Starts a refund. The provider returns its outcome when the test calls `finish`. */
  const startRefund = async () => {
    const called = new Promise<(outcome: RefundOutcome | UnderWay) => void>((resolve) => {
      const refund = jest.spyOn(store.app.get(PaymentGateway), 'refund');
      refund.mockImplementationOnce(() => new Promise(resolve));
    });
    await store.database.run(refundsDueNow);
    const round = store.app.get(RefundCharges).processDue();
    const respond = await called;
    return {
      finish: async (outcome: RefundOutcome | UnderWay) => {
        respond(outcome);
        await round;
      },
    };
  };

  it('are refunded once, even when the response is lost', async () => {
    const { creator, refunds } = await placeAndCancel();
    stripe.fail('/v1/refunds', 'lost-response', 'lost-response');
    await store.resumeOrdersAndRefunds();
    expect(await status(creator)).toBe('refund_due');
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
    expect(refunds()).toHaveLength(1);
  });

  it('have their refund due until Stripe reports its success', async () => {
    const { creator, order, refunds } = await placeAndCancel();
    stripe.refundWith('pending');
    await store.resumeOrdersAndRefunds();
    await retryRefunds();
    expect([await status(creator), await paymentStatus(creator, order)]).toEqual(['refund_due', 'refunded']);
    for (const refund of refunds()) refund.status = 'succeeded';
    await retryRefunds();
    expect([await status(creator), await paymentStatus(creator, order)]).toEqual(['refunded', 'refunded']);
    expect(refunds()).toHaveLength(1);
  });

  it('get another refund when the first one fails, immediately or later', async () => {
    const { creator, refunds } = await placeAndCancel();
    stripe.refundWith('failed', 'pending');
    await store.resumeOrdersAndRefunds();
    await retryRefunds();
    for (const refund of refunds()) refund.status = 'failed';
    await retryRefunds();
    expect(await status(creator)).toBe('refund_due');
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
    expect(refunds().map((refund) => refund.status)).toEqual(['failed', 'failed', 'succeeded']);
  });

  it('keep the refund of the last attempt when an earlier attempt fails during it', async () => {
    const { creator } = await placeAndCancel();
    const earlier = await startRefund();
    const last = await startRefund();
    await earlier.finish({ status: 'failed', reason: 'late' });
    await last.finish({ status: 'under_way', reference: 're_last' });
    expect(await charge(creator)).toMatchObject({ refundReference: 're_last' });
  });

  it('keep the time of their charge, however often their refund is retried', async () => {
    const { creator, settledAt } = await placeAndCancel();
    stripe.refundWith('failed');
    await store.resumeOrdersAndRefunds();
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
    expect(await charge(creator)).toMatchObject({ settledAt });
  });

  it('have their refund retried after a pause', async () => {
    const { creator } = await placeAndCancel();
    await store.database.run(countThreeAttempts);
    stripe.fail('/v1/refunds', { status: 503, error: { type: 'api_error', message: 'x' } });
    await store.resumeOrdersAndRefunds();
    await store.resumeOrdersAndRefunds(); // during the pause
    expect(await status(creator)).toBe('refund_due');
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
  });
});
