import { uuidv7 } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { stripeSettings } from '../../billing/stripe-orders.fixture.js';
import {
  unresponsivePaymentMethod,
  type FakeStripe,
  fakeStripe,
} from '../../payments/stripe/fake-stripe.fixture.js';
import { type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';
import { startStoreProcess } from '../../test/store-process.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';
import { ChargeOrder } from '../../billing/charge-order.js';
import { ChargeSender } from '../../billing/charge-sender.js';
import { RefundCharges } from '../../billing/refund-charges.js';
import { copyAsPending } from '../reading/copied-orders.fixture.js';
import { OrderCompleter } from './order-completer.js';
import { SettleOrder } from './settle-order.js';

// The state after a request died before it charged the order, with a payment method that Stripe charges.
const dieBeforeCharge = statement(
  'test.die-before-charge',
  `WITH crashed AS (UPDATE orders SET resume_at = now(), resume_tries = 0 WHERE creator_id = $1 RETURNING id)
   UPDATE charges SET payment_method = 'pm_card_visa' FROM crashed WHERE order_id = crashed.id`,
);
const becomeDue = statement('test.become-due', 'UPDATE orders SET resume_at = now() WHERE creator_id = $1');
const markRefundDue = statement(
  'test.mark-refund-due',
  "UPDATE charges SET status = 'refund_due' WHERE order_id IN (SELECT id FROM orders WHERE creator_id = $1)",
);
// Rounded up to a minute, since the statement runs later than the one that set the time.
const pauseOf = statement(
  'test.pause-of',
  `SELECT resume_tries AS attempts, ceil(extract(epoch FROM resume_at - now()) / 60)::int * 60 AS seconds
   FROM orders WHERE creator_id = $1`,
);
// `leasesEndInTime`: within 20 s, the provider's timeout of 15 s plus the margin of 5 s, for every row.
const chargesByState = statement(
  'test.charges-by-state',
  `SELECT c.status, o.resume_tries AS "resumeTries", c.refund_tries AS "refundTries", count(*) AS charges,
          bool_and(coalesce(CASE c.status WHEN 'pending' THEN o.resume_at ELSE c.refund_at END
                            < now() + interval '20 seconds', false)) AS "leasesEndInTime"
   FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = ANY ($1) GROUP BY 1, 2, 3 ORDER BY 1`,
);

/** With it, a thousand orders without a response of the provider occupy the 20 slots for 12 minutes. */
const providerTimeoutMs = 15_000;

describe('the completer while the provider does not respond', () => {
  let stripe: FakeStripe;
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  beforeEach(async () => {
    stripe = await fakeStripe();
  });
  afterEach(async () => {
    await store.stop();
    await stripe.stop();
  });

  const start = async (environment: Readonly<Record<string, string>>) => {
    store = await startStoreApi({
      ...stripeSettings(stripe),
      PAYMENT_TIMEOUT_MS: String(providerTimeoutMs),
      ...environment,
    });
    helpers = orderHelpers(store);
  };
  /** Number of requests to the provider with a method and path, such as `POST /v1/refunds`. */
  const requestCount = (request: string): number =>
    stripe.requests.filter(({ method, path }) => `${method} ${path}` === request).length;
  const unansweredRequest = `GET /v1/payment_methods/${unresponsivePaymentMethod}`;
  /** Creates a creator with one order. */
  const place = async (paymentMethod: string): Promise<Creator> => {
    const { creator, body } = await helpers.prepareOrder({ paymentMethod });
    const placing = () => helpers.place(creator, body, uuidv7());
    if (paymentMethod !== unresponsivePaymentMethod) {
      expect((await placing()).status).toBe(201);
      return creator;
    }
    const before = requestCount(unansweredRequest);
    expect((await helpers.withShortPaymentTimeout(placing)).status).toBe(201);
    await eventually(() => requestCount(unansweredRequest) > before); // Stripe may receive it late
    return creator;
  };
  const chargeStatus = async (creator: Creator) => (await helpers.charges(creator))[0]?.status;

  it('completes an order that a crash has just left, and a refund, while a thousand orders wait', async () => {
    // The limit of the circuit is so high that the failures of this test do not open it.
    await start({ RESUME_AFTER_MS: '500', PAYMENT_CIRCUIT_FAILURES: '1000' });
    const waiting = await place(unresponsivePaymentMethod);
    const crashed = await place(unresponsivePaymentMethod);
    const cancelled = await place('pm_card_visa');
    await copyAsPending(store.database, waiting.id, 1000);
    await store.database.run(dieBeforeCharge, [crashed.id]);
    await store.database.run(markRefundDue, [cancelled.id]);
    const loops = [store.app.get(OrderCompleter), store.app.get(RefundCharges)];
    for (const loop of loops) loop.start();
    await eventually(
      async () =>
        (await chargeStatus(crashed)) === 'succeeded' && (await chargeStatus(cancelled)) === 'refunded',
    );
    expect(await chargeStatus(waiting)).toBe('pending');
    await Promise.all(loops.map((loop) => loop.stop()));
  });

  it('retries at growing intervals of at most five minutes', async () => {
    await start({ RESUME_AFTER_MS: '60000' });
    const creator = await place(unresponsivePaymentMethod);
    const pauses: unknown[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      pauses.push(await store.database.row(pauseOf, [creator.id]));
      await helpers.withShortPaymentTimeout(() => helpers.runCompleter(creator));
    }
    expect(pauses).toEqual(
      [60, 120, 240, 300, 300].map((seconds, index) => ({ attempts: index + 1, seconds })),
    );
    // One when the order was placed, and one per attempt. Stripe may receive one after its timeout.
    await eventually(() => requestCount(unansweredRequest) === 1 + 5);
    const before = stripe.requests.length;
    await store.resumeOrdersAndRefunds(); // not due
    expect(stripe.requests).toHaveLength(before);
  });

  it('logs whether a resumed order was settled or is still pending', async () => {
    await start({ RESUME_AFTER_MS: '60000' });
    const lines: string[] = [];
    const { app } = store;
    const completer = new OrderCompleter(
      app.get(BACKGROUND_DATABASE),
      app.get(ChargeOrder),
      app.get(SettleOrder),
      app.get(ChargeSender),
      store.config,
      createLogger('test', 'info', { write: (line) => lines.push(line) }),
    );
    const creator = await place(unresponsivePaymentMethod);
    await store.database.run(becomeDue, [creator.id]);
    await helpers.withShortPaymentTimeout(() => completer.round());
    await store.database.run(dieBeforeCharge, [creator.id]);
    await completer.round();
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { message: 'The charge of a resumed order is still pending.', status: 'pending' },
      { message: 'Resumed an order.', status: 'processing' },
    ]);
  });

  describe('and its process gets SIGTERM', () => {
    let running: Awaited<ReturnType<typeof startStoreProcess>> | undefined;
    afterEach(async () => {
      await running?.stop();
      running = undefined;
    });

    /** Returns a function that counts the requests with this method and path from now on. */
    const countFurther = (request: string): (() => number) => {
      const before = requestCount(request);
      return () => requestCount(request) - before;
    };

    it('leaves waiting orders to other replicas, and ends at once', async () => {
      await start({ RESUME_AFTER_MS: '500' });
      const waiting = await place(unresponsivePaymentMethod);
      const cancelled = await place('pm_card_visa');
      await copyAsPending(store.database, waiting.id, 50);
      await store.database.run(markRefundDue, [cancelled.id]);
      stripe.fail('/v1/refunds', 'silent', 'silent'); // the reconciliation sends requests to this path, too
      const resumed = countFurther(unansweredRequest);
      const refunded = countFurther('POST /v1/refunds');
      running = await startStoreProcess(store, stripeSettings(stripe));
      await eventually(() => resumed() >= 20 && refunded() >= 1); // 20 are the slots of the completer
      const terminatedAt = performance.now();
      running.terminate();
      expect(await running.ended).toBe(0);
      // Waiting for the provider would take 15 s, and another 15 s for the orders that are due.
      expect(performance.now() - terminatedAt).toBeLessThan(14_000);
      expect(await store.database.rows(chargesByState, [[waiting.id, cancelled.id]])).toEqual([
        { status: 'pending', resumeTries: 1, refundTries: 0, leasesEndInTime: true, charges: 51 },
        { status: 'refund_due', resumeTries: 0, refundTries: 1, leasesEndInTime: true, charges: 1 },
      ]);
    });

    it('claims no more orders while it waits for a running request', async () => {
      await start({ RESUME_AFTER_MS: '60000' });
      const due = await place(unresponsivePaymentMethod);
      const { creator, body } = await helpers.prepareOrder({ paymentMethod: unresponsivePaymentMethod });
      running = await startStoreProcess(store, { ...stripeSettings(stripe), PAYMENT_TIMEOUT_MS: '4000' });
      await running.untilReady();
      const started = countFurther(unansweredRequest);
      const placing = running.place(creator, body, uuidv7()).then(({ body: order }) => order.status);
      await eventually(() => started() >= 1);
      running.terminate();
      await running.untilNotReady();
      await store.database.run(dieBeforeCharge, [due.id]);
      expect([await placing, await running.ended, await chargeStatus(due)]).toEqual([
        'pending',
        0,
        'pending',
      ]);
    });
  });
});
