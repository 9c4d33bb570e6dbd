import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { startStoreProcess } from '../store-process.fixture.js';
import { ChargeOrder } from './charge-order.js';
import { type OpenCharge, openChargeColumns } from './open-charge.js';
import { SettleOrder } from './settle-order.js';
import { type StripeOrders, stripeOrders } from './stripe-orders.fixture.js';

/** What Jest leaves alone where the date alone is another. */
const timers = [
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'performance',
] as const;
const intentsPath = '/v1/payment_intents';
const openCharge = statement(
  'test.open-charge',
  `SELECT c.id, o.id AS "orderId" FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE o.creator_id = $1 AND c.status = 'pending'`,
);
const openChargeRow = statement(
  'test.open-charge-row',
  `SELECT ${openChargeColumns('c')} FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE o.creator_id = $1 AND c.status = 'pending'`,
);
const dueNow = statement('test.due-now', 'UPDATE orders SET resume_at = now() WHERE creator_id = $1');
const keysOf = statement(
  'test.keys-of',
  `SELECT c.key_number AS "keyNumber", c.key_spent_at IS NOT NULL AS spent FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE o.creator_id = $1`,
);
const spentLongAgo = statement(
  'test.spent-long-ago',
  "UPDATE charges SET key_spent_at = now() - interval '5 minutes' WHERE key_spent_at IS NOT NULL",
);
const references = statement(
  'test.references',
  `SELECT c.provider_reference AS reference, c.status FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1`,
);

describe('orders whose creators are charged by Stripe', () => {
  let orders: StripeOrders;
  let standIn: StripeOrders['standIn'];
  let store: StripeOrders['store'];
  let desk: StripeOrders['desk'];
  let place: StripeOrders['place'];

  beforeAll(async () => {
    orders = await stripeOrders();
    ({ standIn, store, desk, place } = orders);
  });
  afterAll(() => orders.stop());

  it('are paid, under the name of the order, and the name of the charge is kept', async () => {
    const { who, order, intents } = await place('pm_card_visa');
    expect(order.status).toBe('processing');
    expect(intents()).toMatchObject([{ amount: 2499 + 400, currency: 'gbp', status: 'succeeded' }]);
    expect(await store.database.rows(references, [who.id])).toEqual([
      { reference: intents()[0]?.id, status: 'succeeded' },
    ]);
  });

  it('are charged no earlier than they were placed, though Stripe tells whole seconds', async () => {
    const { who, order } = await place('pm_card_visa');
    const { billing, created_at } = (await store.get(`/store/v1/orders/${order.id}`, who.token)).body;
    expect(Date.parse(billing.charged_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
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
    await eventually(async () => {
      await desk.complete(who); // as often as a fault is left
      return (await desk.open(who)) === 0 ? true : undefined;
    });
    expect((await store.get(`/store/v1/orders/${order.id}`, who.token)).body.status).toBe('processing');
    expect(intents()).toHaveLength(1);
  });

  describe('when Stripe answers 500 and repeats it under the key', () => {
    /** A pending order whose key is known to be spent, long enough ago to look what came of it. */
    const placeSpent = async (fault: 'broken-before' | 'broken-after') => {
      standIn.fail(intentsPath, fault);
      const placed = await place('pm_card_visa');
      await desk.complete(placed.who);
      expect(await store.database.rows(keysOf, [placed.who.id])).toEqual([{ keyNumber: 1, spent: true }]);
      await store.database.run(spentLongAgo);
      return placed;
    };
    const statusOf = async ({ who, order }: Awaited<ReturnType<typeof place>>) =>
      (await store.get(`/store/v1/orders/${order.id}`, who.token)).body.status;

    it.each([
      ['broken-before', 2],
      ['broken-after', 1],
    ] as const)('are charged once (%s)', async (fault, keyNumber) => {
      const placed = await placeSpent(fault);
      await desk.complete(placed.who);
      expect(await statusOf(placed)).toBe('processing');
      expect(placed.intents()).toHaveLength(1);
      expect(await store.database.rows(keysOf, [placed.who.id])).toMatchObject([{ keyNumber }]);
    });

    it.each(['next-key-taken', 'charged'])('are charged once when the process dies at %s', async (point) => {
      const placed = await placeSpent('broken-before');
      const dying = await startStoreProcess(store, { ...orders.settings, FAULT_POINT: point });
      await store.database.run(dueNow, [placed.who.id]);
      expect(await dying.ended).toBe('SIGKILL');
      expect(await store.database.rows(keysOf, [placed.who.id])).toEqual([{ keyNumber: 2, spent: false }]);
      expect(placed.intents()).toHaveLength(point === 'charged' ? 1 : 0);
      await desk.complete(placed.who);
      expect(await statusOf(placed)).toBe('processing');
      expect(placed.intents()).toHaveLength(1);
    });

    it('are found under nobody, where the payment method had no customer yet when its key was spent', async () => {
      standIn.attachTo(null);
      const placed = await placeSpent('broken-after');
      standIn.attachTo('cus_standin');
      await desk.complete(placed.who);
      expect([await statusOf(placed), placed.intents().length]).toEqual(['processing', 1]);
    });

    it('are left to Stripe for a minute of PostgreSQL, however far ahead the clock of a replica is', async () => {
      standIn.fail(intentsPath, 'broken-before');
      const placed = await place('pm_card_visa');
      await desk.complete(placed.who);
      jest.useFakeTimers({ doNotFake: [...timers], now: Date.now() + 5 * 60_000 });
      await desk.complete(placed.who).finally(() => jest.useRealTimers());
      expect(await store.database.rows(keysOf, [placed.who.id])).toEqual([{ keyNumber: 1, spent: true }]);
      expect(placed.intents()).toEqual([]);
    });

    it('are charged once when many look at the same moment', async () => {
      const placed = await placeSpent('broken-before');
      const charge = await store.database.row<OpenCharge>(openChargeRow, [placed.who.id]);
      if (charge === undefined) throw new Error('The order has no open charge.');
      const ask = () => store.app.get(ChargeOrder).run(charge);
      await Promise.all(Array.from({ length: 8 }, ask));
      expect(await statusOf(placed)).toBe('processing');
      expect(placed.intents()).toHaveLength(1);
    });
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
});
