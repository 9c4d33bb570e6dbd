import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { cataloguePrices } from '../catalogue/catalogue-file.fixture.js';
import { shippingPrice } from '../test/store-api.fixture.js';
import { startStoreProcess } from '../test/store-process.fixture.js';
import { ChargeOrder } from './charge-order.js';
import type { OpenCharge } from '../payments/payment-gateway.js';
import { openChargeColumns } from './open-charge.js';
import { SettleOrder } from '../orders/settling/settle-order.js';
import type { FakeStripeFault } from '../payments/stripe/fake-stripe.fixture.js';
import { intentsPath } from '../payments/stripe/stripe-gateway.fixture.js';
import { type StripeOrders, stripeOrders } from './stripe-orders.fixture.js';

const readOpenCharge = statement(
  'test.open-charge',
  `SELECT ${openChargeColumns} FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE o.creator_id = $1 AND c.status = 'pending'`,
);
const makeDueNow = statement('test.due-now', 'UPDATE orders SET resume_at = now() WHERE creator_id = $1');
const readKeys = statement(
  'test.keys-of',
  `SELECT k.key_number AS "keyNumber", k.unusable_since IS NOT NULL AS unusable
   FROM stripe_keys k JOIN charges c ON c.id = k.charge_id JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1`,
);
const ageUnusableKeys = statement(
  'test.age-unusable-keys',
  "UPDATE stripe_keys SET unusable_since = now() - interval '5 minutes' WHERE unusable_since IS NOT NULL",
);

describe('orders that are charged by Stripe', () => {
  let orders: StripeOrders;
  let stripe: StripeOrders['stripe'];
  let store: StripeOrders['store'];
  let helpers: StripeOrders['helpers'];
  let place: StripeOrders['place'];

  beforeAll(async () => {
    orders = await stripeOrders();
    ({ stripe, store, helpers, place } = orders);
  });
  afterAll(() => orders.stop());

  /** Places an order to whose charge Stripe does not respond. */
  const placeWithoutResponse = async () => {
    stripe.fail(intentsPath, 'silent');
    const placed = await helpers.withShortPaymentTimeout(() => place('pm_card_visa'));
    await eventually(() => placed.intents().length === 1); // Stripe may process the request after the timeout
    return placed;
  };

  it("are paid with the order's id in the metadata, and store the id of the PaymentIntent", async () => {
    const { creator, order, intents } = await place('pm_card_visa');
    expect(order.status).toBe('processing');
    const amount = cataloguePrices.GBP + shippingPrice;
    expect(intents()).toMatchObject([
      { amount, currency: 'gbp', status: 'succeeded', metadata: { order_id: order.id } },
    ]);
    expect(await helpers.charges(creator)).toMatchObject([
      { reference: intents()[0]?.id, status: 'succeeded' },
    ]);
  });

  it('are charged no earlier than they were placed, although Stripe reports whole seconds', async () => {
    const { creator, order } = await place('pm_card_visa');
    const { billing, created_at } = await store.readOrder(creator, order.id);
    expect(Date.parse(billing.charged_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
  });

  it('become payment_failed when the card is declined', async () => {
    const { creator, order } = await place('pm_card_insufficientFunds');
    expect(order.status).toBe('payment_failed');
    expect(await helpers.stock(creator)).toEqual([4]); // as before the order
    await helpers.waitUntilPublished();
    const failed = store
      .published('order.payment_failed')
      .find(({ data }) => JSON.stringify(data).includes(creator.id));
    expect(failed?.data).toMatchObject({ reason: 'insufficient_funds' });
  });

  const placeWith = (...faults: readonly FakeStripeFault[]) => {
    stripe.fail(intentsPath, ...faults);
    return place('pm_card_visa');
  };
  const serverError = { status: 500, error: { type: 'api_error', message: 'x' } };
  it.each([
    // Stripe's library repeats a request whose connection was closed.
    ['the response is lost', () => placeWith('lost-response', 'lost-response')],
    ['no response comes', placeWithoutResponse],
    ['Stripe responds with 500', () => placeWith(serverError)],
  ])('stay pending when %s, until the completer retries, and are charged once', async (_, placeOrder) => {
    const { creator, order, intents } = await placeOrder();
    expect(order.status).toBe('pending');
    await helpers.runCompleter(creator);
    expect((await store.readOrder(creator, order.id)).status).toBe('processing');
    expect(intents()).toHaveLength(1);
  });

  describe('whose charge request gets a 500 that Stripe repeats under the idempotency key,', () => {
    /** Places an order that stays pending, and whose key has been unusable for long enough for the lookup. */
    const placeWithUnusableKey = async () => {
      stripe.fail(intentsPath, 'broken-before');
      const placed = await place('pm_card_visa');
      await helpers.runCompleter(placed.creator);
      expect(await store.database.rows(readKeys, [placed.creator.id])).toEqual([
        { keyNumber: 1, unusable: true },
      ]);
      await store.database.run(ageUnusableKeys);
      return placed;
    };
    const statusOf = async ({ creator, order }: Awaited<ReturnType<typeof place>>) =>
      (await store.readOrder(creator, order.id)).status;

    it.each(['next-key-taken', 'charged'])('are charged once when the process dies at %s', async (point) => {
      const placed = await placeWithUnusableKey();
      const dying = await startStoreProcess(store, { ...orders.settings, FAULT_POINT: point });
      await store.database.run(makeDueNow, [placed.creator.id]);
      expect(await dying.ended).toBe('SIGKILL');
      expect(await store.database.rows(readKeys, [placed.creator.id])).toEqual([
        { keyNumber: 2, unusable: false },
      ]);
      expect(placed.intents()).toHaveLength(point === 'charged' ? 1 : 0);
      await helpers.runCompleter(placed.creator);
      expect(await statusOf(placed)).toBe('processing');
      expect(placed.intents()).toHaveLength(1);
    });

    it("wait a minute by PostgreSQL's clock before the lookup, however far ahead a replica's clock is", async () => {
      stripe.fail(intentsPath, 'broken-before');
      const placed = await place('pm_card_visa');
      await helpers.runCompleter(placed.creator);
      await helpers.withClockAt(Date.now() + 5 * 60_000, () => helpers.runCompleter(placed.creator));
      expect(await store.database.rows(readKeys, [placed.creator.id])).toEqual([
        { keyNumber: 1, unusable: true },
      ]);
      expect(placed.intents()).toEqual([]);
    });

    it('are charged once when they are looked up eight times concurrently', async () => {
      const placed = await placeWithUnusableKey();
      const charge = await store.database.row<OpenCharge>(readOpenCharge, [placed.creator.id]);
      if (charge === undefined) throw new Error('The order has no open charge.');
      const chargeOnce = async () =>
        store.app
          .get(SettleOrder)
          .run(
            store.database,
            charge,
            await store.app.get(ChargeOrder).run(store.database, charge, 'request'),
          );
      await Promise.all(Array.from({ length: 8 }, chargeOnce));
      expect(await statusOf(placed)).toBe('processing');
      expect(placed.intents()).toHaveLength(1);
    });
  });

  it('stay pending while Stripe processes the charge, which is then read by its id', async () => {
    stripe.confirmWith('processing');
    const { creator, order, intents } = await place('pm_card_visa');
    const [intent] = intents();
    expect(order.status).toBe('pending');
    expect(await helpers.charges(creator)).toMatchObject([{ reference: intent?.id, status: 'pending' }]);
    if (intent !== undefined) intent.status = 'succeeded';
    await helpers.runCompleter(creator);
    expect((await store.readOrder(creator, order.id)).status).toBe('processing');
    expect(stripe.requests.at(-1)?.path).toBe(`${intentsPath}/${intent?.id}`);
  });

  it('are refunded when a success is settled after a decline of the same charge', async () => {
    const { creator, order, intents } = await placeWithoutResponse();
    const charge = await store.database.row<OpenCharge>(readOpenCharge, [creator.id]);
    if (charge === undefined) throw new Error('The order has no open charge.');
    const settle = store.app.get(SettleOrder);
    const reference = intents()[0]?.id ?? null;
    await settle.run(store.database, charge, {
      status: 'declined',
      reason: 'card_declined',
      reference: null,
    });
    const paid = { status: 'succeeded', chargedAt: new Date(), reference } as const;
    expect(await settle.run(store.database, charge, paid)).toMatchObject({ status: 'payment_failed' });
    await store.resumeOrdersAndRefunds();
    expect((await store.readOrder(creator, order.id)).status).toBe('payment_failed');
    expect(stripe.refunds.filter((refund) => refund.payment_intent === reference)).toHaveLength(1);
  });
});
