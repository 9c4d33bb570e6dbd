import { statement } from '@fulfilment/database';
import type { TestCreator } from '../store-api.fixture.js';
import { type StripeOrders, stripeOrders } from './stripe-orders.fixture.js';

const refundsDueNow = statement(
  'test.refunds-due-now',
  "UPDATE charges SET refund_at = now() WHERE status = 'refund_due'",
);
const references = statement(
  'test.references',
  `SELECT c.provider_reference AS reference, c.status FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1`,
);
const settledAt = statement(
  'test.settled-at',
  'SELECT c.settled_at AS at FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1',
);

describe('orders charged by Stripe that are cancelled', () => {
  let orders: StripeOrders;
  let standIn: StripeOrders['standIn'];
  let store: StripeOrders['store'];

  beforeAll(async () => {
    orders = await stripeOrders();
    ({ standIn, store } = orders);
  });
  afterAll(() => orders.stop());

  const cancel = async () => {
    const placed = await orders.place('pm_card_visa');
    const chargedAt = await store.database.row(settledAt, [placed.who.id]);
    await orders.cancel(placed.order);
    return {
      ...placed,
      chargedAt,
      refunds: () => standIn.refunds.filter((refund) => refund.payment_intent === placed.intents()[0]?.id),
    };
  };
  const status = async (who: TestCreator) =>
    (await store.database.row<{ status: string }>(references, [who.id]))?.status;
  const billing = async (who: TestCreator, order: { id: string }) =>
    (await store.get(`/store/v1/orders/${order.id}`, who.token)).body.billing.payment_status;
  /** The completer, without waiting for its time. */
  const askAgain = async () => {
    await store.database.run(refundsDueNow);
    await store.resumeOrders();
  };

  it('are refunded once, also when the answer is lost', async () => {
    const { who, refunds } = await cancel();
    standIn.fail('/v1/refunds', 'lost-answer', 'lost-answer');
    await store.resumeOrders();
    expect(await status(who)).toBe('refund_due');
    await askAgain();
    expect(await status(who)).toBe('refunded');
    expect(refunds()).toHaveLength(1);
  });

  it('are owed their refund until Stripe says that it succeeded', async () => {
    const { who, order, refunds } = await cancel();
    standIn.refundWith('pending');
    await store.resumeOrders();
    await askAgain();
    expect([await status(who), await billing(who, order)]).toEqual(['refund_due', 'refunded']);
    for (const refund of refunds()) refund.status = 'succeeded';
    await askAgain();
    expect([await status(who), await billing(who, order)]).toEqual(['refunded', 'refunded']);
    expect(refunds()).toHaveLength(1);
  });

  it('are refunded once more when the refund fails, at once or later', async () => {
    const { who, refunds } = await cancel();
    standIn.refundWith('failed', 'pending');
    await store.resumeOrders();
    await askAgain();
    for (const refund of refunds()) refund.status = 'failed';
    await askAgain();
    expect(await status(who)).toBe('refund_due');
    await askAgain();
    expect(await status(who)).toBe('refunded');
    expect(refunds().map((refund) => refund.status)).toEqual(['failed', 'failed', 'succeeded']);
  });

  it('are refunded once when Stripe answers 500 and repeats it under the key', async () => {
    const { who, refunds } = await cancel();
    standIn.fail('/v1/refunds', 'broken-after');
    await store.resumeOrders();
    await askAgain(); // the key is spent
    expect(await status(who)).toBe('refund_due');
    await askAgain();
    expect(await status(who)).toBe('refunded');
    expect(refunds()).toHaveLength(1);
  });

  it('keep the time when they were charged, however often their refund is asked for', async () => {
    const { who, chargedAt } = await cancel();
    standIn.refundWith('failed');
    await store.resumeOrders();
    await askAgain();
    expect(await status(who)).toBe('refunded');
    expect(await store.database.row(settledAt, [who.id])).toEqual(chargedAt);
  });

  it('do not have their refund asked for at once again', async () => {
    const { who } = await cancel();
    standIn.fail('/v1/refunds', { answer: 503, error: { type: 'api_error', message: 'x' } });
    await store.resumeOrders();
    await store.resumeOrders();
    expect(await status(who)).toBe('refund_due');
    await askAgain();
    expect(await status(who)).toBe('refunded');
  });
});
