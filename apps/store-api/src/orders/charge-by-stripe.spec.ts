import { messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { messageOutcomes } from '@fulfilment/messaging';
import { eventually } from '@fulfilment/testing';
import { standInSecretKey, type StripeStandIn, stripeStandIn } from '../payments/stripe-stand-in.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi } from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';
import { SettleOrder } from './settle-order.js';

const intentsPath = '/v1/payment_intents';
const refundsDueNow = statement(
  'test.refunds-due-now',
  "UPDATE charges SET settled_at = now() WHERE status = 'refund_due'",
);
const openCharge = statement(
  'test.open-charge',
  `SELECT c.id, o.id AS "orderId" FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE o.creator_id = $1 AND c.status = 'pending'`,
);
const references = statement(
  'test.references',
  `SELECT c.provider_reference AS reference, c.status FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1`,
);

describe('orders whose creators are charged by Stripe', () => {
  let standIn: StripeStandIn;
  let store: StoreApiUnderTest;
  let desk: OrderDesk;

  beforeAll(async () => {
    standIn = await stripeStandIn();
    store = await startStoreApi({
      NODE_ENV: 'test',
      PAYMENT_PROVIDER: 'stripe',
      STRIPE_SECRET_KEY: standInSecretKey,
      STRIPE_API_URL: standIn.url,
      PAYMENT_TIMEOUT_MS: '500',
    });
    desk = orderDesk(store);
  });
  afterAll(async () => {
    await store.stop();
    await standIn.stop();
  });

  const place = async (paymentMethod: string) => {
    const who = await store.creator(paymentMethod);
    const [sku = ''] = (await store.release(who.id, [{ quantity: 4 }])).skus;
    const body = orderBody(sku, await store.quote(who.token));
    const { status, body: order } = await desk.place(who, body);
    expect(status).toBe(201);
    return {
      who,
      order,
      intents: () => standIn.intents().filter(({ metadata }) => metadata['order_id'] === order.id),
    };
  };

  it('are paid, under the name of the order, and the name of the charge is kept', async () => {
    const { who, order, intents } = await place('pm_card_visa');
    expect(order.status).toBe('processing');
    expect(intents()).toMatchObject([{ amount: 2499 + 400, currency: 'gbp', status: 'succeeded' }]);
    expect(await store.database.rows(references, [who.id])).toEqual([
      { reference: intents()[0]?.id, status: 'succeeded' },
    ]);
  });

  it('are payment_failed when the card is declined', async () => {
    const { who, order } = await place('pm_card_insufficientFunds');
    expect(order.status).toBe('payment_failed');
    expect(await desk.stock(who)).toEqual([4]);
    await desk.events(who, 'order.');
    const told = store
      .published('order.payment_failed')
      .find(({ data }) => JSON.stringify(data).includes(who.id));
    expect(told?.data).toMatchObject({ reason: 'insufficient_funds' });
  });

  it.each([
    ['the answer is lost', ['lost-answer', 'lost-answer'] as const],
    ['no answer comes', ['silent'] as const],
    ['Stripe is out of order', [{ answer: 500, error: { type: 'api_error', message: 'x' } }] as const],
  ])('stay pending when %s, until the completer has asked again: one charge', async (_, faults) => {
    standIn.fail(intentsPath, ...faults);
    const { who, order, intents } = await place('pm_card_visa');
    expect(order.status).toBe('pending');
    await desk.complete(who);
    expect((await store.get(`/store/v1/orders/${order.id}`, who.token)).body.status).toBe('processing');
    expect(intents()).toHaveLength(1);
  });

  it('stay pending while Stripe has the charge in hand, and are asked after by its name', async () => {
    standIn.confirmWith('processing');
    const { who, order, intents } = await place('pm_card_visa');
    const [intent] = intents();
    expect([order.status, await store.database.rows(references, [who.id])]).toEqual([
      'pending',
      [{ reference: intent?.id, status: 'pending' }],
    ]);
    if (intent !== undefined) intent.status = 'succeeded';
    await desk.complete(who);
    expect((await store.get(`/store/v1/orders/${order.id}`, who.token)).body.status).toBe('processing');
    expect(standIn.requests.at(-1)?.path).toBe(`${intentsPath}/${intent?.id}`);
  });

  it('are not charged when one asker was refused for good: what another was charged is given back', async () => {
    standIn.fail(intentsPath, 'silent');
    const { who, order, intents } = await place('pm_card_visa');
    const [charge] = await store.database.rows<{ id: string; orderId: string }>(openCharge, [who.id]);
    if (charge === undefined) throw new Error('The order has no open charge.');
    const settle = store.app.get(SettleOrder);
    const reference = intents()[0]?.id ?? null;
    await settle.run(charge.orderId, charge.id, { status: 'declined', reason: 'refused', reference: null });
    const paid = { status: 'succeeded', at: new Date(), reference } as const;
    expect(await settle.run(charge.orderId, charge.id, paid)).toMatchObject({ status: 'payment_failed' });
    await store.resumeOrders();
    expect((await store.get(`/store/v1/orders/${order.id}`, who.token)).body.status).toBe('payment_failed');
    expect(standIn.refunds.filter((refund) => refund.payment_intent === reference)).toHaveLength(1);
  });

  it('are refunded once when they are cancelled, also when the answer is lost', async () => {
    const { who, order, intents } = await place('pm_card_visa');
    const message = messages.fulfilmentCancelled.make(
      { order_id: order.id, reason: 'pressing fault' },
      { occurredAt: new Date() },
    );
    await store.broker.publish(message);
    await eventually(() => messageOutcomes(store.database)(`/messages/${message.id}`));
    standIn.fail('/v1/refunds', 'lost-answer', 'lost-answer');
    await store.resumeOrders();
    expect(await store.database.rows(references, [who.id])).toMatchObject([{ status: 'refund_due' }]);
    await store.database.run(refundsDueNow);
    await store.resumeOrders();
    expect(await store.database.rows(references, [who.id])).toMatchObject([{ status: 'refunded' }]);
    expect(standIn.refunds.filter((refund) => refund.payment_intent === intents()[0]?.id)).toHaveLength(1);
  });
});
