import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { orderBody } from '../test/store-api.fixture.js';
import type { FakeStripeFault } from '../payments/stripe/fake-stripe.fixture.js';
import { intentsPath } from '../payments/stripe/stripe-gateway.fixture.js';
import { type StripeOrders, stripeOrders } from './stripe-orders.fixture.js';

type Placed = Awaited<ReturnType<StripeOrders['place']>>;

/** Number of failures after which the circuit opens. */
const failures = 3;
const circuitOpenMs = 60_000;
const attemptsOf = statement(
  'test.attempts-of',
  'SELECT resume_tries AS attempts FROM orders WHERE creator_id = $1',
);
// An hour ago, so that the completer claims it before all other orders.
const makeDue = statement(
  'test.make-due',
  "UPDATE orders SET resume_at = now() - interval '1 hour' WHERE creator_id = $1",
);

describe('with a circuit that opens after three failures of the payment provider,', () => {
  let orders: StripeOrders;
  let stripe: StripeOrders['stripe'];

  beforeEach(async () => {
    orders = await stripeOrders({
      PAYMENT_CIRCUIT_FAILURES: String(failures),
      PAYMENT_CIRCUIT_OPEN_MS: String(circuitOpenMs),
    });
    ({ stripe } = orders);
    // Once Stripe has found a payment method, a charge with one that it does not have is declined.
    await orders.place('pm_card_visa');
  });
  afterEach(async () => {
    await orders.stop();
    jest.restoreAllMocks();
  });

  const keyExpired = { type: 'invalid_request_error', code: 'api_key_expired', message: 'No.' };
  const statusOf = async ({ creator, order }: Placed): Promise<string> =>
    (await orders.store.readOrder(creator, order.id)).status;
  /** Runs rounds of the completer until each order is settled. */
  const untilSettled = (placed: readonly Placed[]) =>
    eventually(async () => {
      for (const { creator } of placed) await orders.helpers.runCompleter(creator);
      const statuses = await Promise.all(placed.map(statusOf));
      return statuses.includes('pending') ? undefined : statuses;
    });
  /** Places orders one after another, each with its own creator and payment method. */
  const placeAll = async (count: number): Promise<Placed[]> => {
    const placed: Placed[] = [];
    for (let index = 0; index < count; index += 1) placed.push(await orders.place(`pm_card_visa${index}`));
    return placed;
  };
  /** Places orders whose charges fail, so that the circuit opens. */
  const openCircuit = async (fault: FakeStripeFault = 'silent'): Promise<Placed[]> => {
    stripe.fail(intentsPath, ...Array.from({ length: failures }, () => fault));
    const charges = () => stripe.requests.filter(({ path }) => path === intentsPath).length;
    const expected = charges() + failures;
    const placing = () => placeAll(failures);
    const placed = await (fault === 'silent' ? orders.helpers.withShortPaymentTimeout(placing) : placing());
    await eventually(() => charges() === expected); // Stripe may receive a request after its timeout
    return placed;
  };
  /** Advances the clock to the time at which an open circuit allows a charge of the completer as a trial. */
  const advanceClockToTrial = () => {
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + circuitOpenMs);
  };

  it.each([
    ['Stripe is silent', 'silent'],
    ['our API key is wrong', { status: 401, error: keyExpired }],
  ] as const)(
    'orders after three failures are placed as pending without a request, and all are charged once later (%s)',
    async (_, fault) => {
      const placed = await openCircuit(fault);
      const requestsBefore = stripe.requests.length;
      placed.push(...(await placeAll(2)));
      expect(stripe.requests).toHaveLength(requestsBefore);
      expect(placed.map(({ order }) => order.status)).toEqual(placed.map(() => 'pending'));
      advanceClockToTrial();
      expect(await untilSettled(placed)).toEqual(placed.map(() => 'processing'));
      expect(placed.map(({ intents }) => intents().length)).toEqual(placed.map(() => 1));
    },
  );

  /**
   * Places a test order that the sandbox charges at the second request, and makes it due. Returns a function
   * that reads its status.
   */
  const placeDueTestOrder = async (): Promise<() => Promise<string>> => {
    const { store, helpers } = orders;
    const creator = await store.creator('pm_timeout', { test: true });
    const { sku } = await store.release(creator.id);
    const body = orderBody(sku, await store.quote(creator.token));
    const { id } = (await helpers.withShortPaymentTimeout(() => helpers.place(creator, body))).body;
    await store.database.run(makeDue, [creator.id]);
    return async () => (await store.readOrder(creator, id)).status;
  };

  it('a due test order is charged while the circuit is open, since the sandbox has no outage', async () => {
    await openCircuit();
    const readTestOrderStatus = await placeDueTestOrder();
    await orders.store.resumeOrdersAndRefunds();
    expect(await readTestOrderStatus()).toBe('processing');
  });

  it('a due test order does not use up the trial of a live order', async () => {
    const [live] = await openCircuit();
    if (live === undefined) throw new Error('No order was placed.');
    const readTestOrderStatus = await placeDueTestOrder();
    advanceClockToTrial();
    await orders.helpers.runCompleter(live.creator);
    expect([await statusOf(live), await readTestOrderStatus()]).toEqual(['processing', 'processing']);
  });

  it('no attempt is counted for an order whose charge was suspended, so that its pause stays short', async () => {
    await openCircuit();
    const suspended = await orders.place('pm_card_visa');
    expect(await orders.store.database.row(attemptsOf, [suspended.creator.id])).toEqual({ attempts: 0 });
  });

  it('a repeated request for an order whose charge was suspended returns pending', async () => {
    await openCircuit();
    const { creator, order, repeat } = await orders.place('pm_card_visa', 'key-of-the-repetition');
    const repeated = await repeat();
    expect([repeated.status, repeated.headers['idempotent-replayed'], repeated.body]).toEqual([
      201,
      'true',
      order,
    ]);
    expect(await orders.helpers.orderCount(creator)).toBe(1);
  });

  it('charges with a payment method that Stripe does not have are declined, and do not open the circuit', async () => {
    for (let index = 0; index <= failures; index += 1) {
      const { order } = await orders.place('pm_gone');
      expect(order.status).toBe('payment_failed');
    }
    expect((await orders.place('pm_card_visa')).order.status).toBe('processing');
  });
});

describe('while Stripe has found no payment method with our API key,', () => {
  it('orders stay pending, and are charged after the API key is corrected', async () => {
    const orders = await stripeOrders();
    try {
      const missing = { type: 'invalid_request_error', code: 'resource_missing', message: 'No.' };
      orders.stripe.fail('/v1/payment_methods/pm_card_visa', { status: 404, error: missing });
      orders.stripe.fail(intentsPath, { status: 400, error: { ...missing, param: 'payment_method' } });
      const { creator, order, intents } = await orders.place('pm_card_visa');
      expect(order.status).toBe('pending');
      await orders.helpers.runCompleter(creator);
      const { body } = await orders.store.get(`/store/v1/orders/${order.id}`, creator.token);
      expect([body.status, intents().length]).toEqual(['processing', 1]);
    } finally {
      await orders.stop();
    }
  });
});
