import { statement } from '@fulfilment/database';
import { PaymentGateway, type RefundOutcome, type UnderWay } from '../payments/payment-gateway.js';
import type { Creator } from '../test/store-api.fixture.js';
import { RefundCharges } from './refund-charges.js';
import { type StripeOrders, stripeOrders } from './stripe-orders.fixture.js';

const refundsDueNow = statement(
  'test.refunds-due-now',
  "UPDATE charges SET refund_at = now() WHERE status = 'refund_due'",
);
/** After the fourth attempt, the pause is eight minutes. */
const countThreeAttempts = statement(
  'test.count-three-attempts',
  "UPDATE charges SET refund_tries = 3 WHERE status = 'refund_due'",
);
const readStatus = statement(
  'test.status',
  'SELECT c.status FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1',
);
const refundReference = statement(
  'test.refund-reference',
  'SELECT c.refund_reference AS reference FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1',
);
const settledAt = statement(
  'test.settled-at',
  'SELECT c.settled_at AS at FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1',
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

  const placeAndCancel = async () => {
    const placed = await orders.place('pm_card_visa');
    const chargedAt = await store.database.row(settledAt, [placed.creator.id]);
    await orders.cancel(placed.order);
    return {
      ...placed,
      chargedAt,
      refunds: () => stripe.refunds.filter((refund) => refund.payment_intent === placed.intents()[0]?.id),
    };
  };
  const status = async (creator: Creator) =>
    (await store.database.row<{ status: string }>(readStatus, [creator.id]))?.status;
  const billing = async (creator: Creator, order: { id: string }) =>
    (await store.readOrder(creator, order.id)).billing.payment_status;
  /** Makes refunds due and runs a round. */
  const retryRefunds = async () => {
    await store.database.run(refundsDueNow);
    await store.resumeOrders();
  };
  /** Starts a refund whose outcome the provider returns when the test says so. */
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

  it('are refunded once, also when the response is lost', async () => {
    const { creator, refunds } = await placeAndCancel();
    stripe.fail('/v1/refunds', 'lost-response', 'lost-response');
    await store.resumeOrders();
    expect(await status(creator)).toBe('refund_due');
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
    expect(refunds()).toHaveLength(1);
  });

  it('have their refund due until Stripe reports its success', async () => {
    const { creator, order, refunds } = await placeAndCancel();
    stripe.refundWith('pending');
    await store.resumeOrders();
    await retryRefunds();
    expect([await status(creator), await billing(creator, order)]).toEqual(['refund_due', 'refunded']);
    for (const refund of refunds()) refund.status = 'succeeded';
    await retryRefunds();
    expect([await status(creator), await billing(creator, order)]).toEqual(['refunded', 'refunded']);
    expect(refunds()).toHaveLength(1);
  });

  it('get another refund when the first one fails, at once or later', async () => {
    const { creator, refunds } = await placeAndCancel();
    stripe.refundWith('failed', 'pending');
    await store.resumeOrders();
    await retryRefunds();
    for (const refund of refunds()) refund.status = 'failed';
    await retryRefunds();
    expect(await status(creator)).toBe('refund_due');
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
    expect(refunds().map((refund) => refund.status)).toEqual(['failed', 'failed', 'succeeded']);
  });

  it('keep the refund of their last attempt when an earlier one ends during it', async () => {
    const { creator } = await placeAndCancel();
    const earlier = await startRefund();
    const last = await startRefund();
    await earlier.finish({ status: 'failed', reason: 'late' });
    await last.finish({ status: 'under_way', reference: 're_last' });
    expect(await store.database.row(refundReference, [creator.id])).toEqual({ reference: 're_last' });
  });

  it('keep the time of their charge, however often their refund is retried', async () => {
    const { creator, chargedAt } = await placeAndCancel();
    stripe.refundWith('failed');
    await store.resumeOrders();
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
    expect(await store.database.row(settledAt, [creator.id])).toEqual(chargedAt);
  });

  it('do not have their refund retried at once', async () => {
    const { creator } = await placeAndCancel();
    await store.database.run(countThreeAttempts);
    stripe.fail('/v1/refunds', { status: 503, error: { type: 'api_error', message: 'x' } });
    await store.resumeOrders();
    await store.resumeOrders();
    expect(await status(creator)).toBe('refund_due');
    await retryRefunds();
    expect(await status(creator)).toBe('refunded');
  });
});
