import { messages, parsePublicId, topologyOf, uuidv7 } from '@fulfilment/contracts';
import { untilLockWaits } from '@fulfilment/database/testing';
import { statement } from '@fulfilment/database';
import { connect } from 'amqplib';
import { eventually } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { stripeOrders, type StripeOrders } from '../billing/stripe-orders.fixture.js';
import { storeApiSettings } from '../config.js';
import { cataloguePrices } from '../catalogue/catalogue-file.fixture.js';
import { maxPackageEvents } from '../fulfilment/order-events.js';
import { creatorSnapshot, editionSnapshot } from '../connected-creator/snapshots.fixture.js';
import {
  newKey,
  orderBody,
  startStoreApi,
  type StoreApiUnderTest,
  type Creator,
} from '../test/store-api.fixture.js';
import { SimulatedWarehouse } from './simulated-warehouse.js';

/** Repeats the first event of a creator's orders up to the maximum. */
const fillHistory = statement(
  'test.fill-history',
  `UPDATE orders SET package_history = to_jsonb(array_fill(package_history -> 0, ARRAY[${maxPackageEvents}]))
   WHERE creator_id = $1`,
);

const lockOrder = statement('test.lock-order', 'SELECT id FROM orders WHERE id = $1 FOR UPDATE');

const makeOlder = statement(
  'test.make-orders-older',
  'UPDATE orders SET updated_at = updated_at - $2::interval WHERE creator_id = $1',
);

describe('test mode', () => {
  let orders: StripeOrders;
  beforeAll(async () => {
    orders = await stripeOrders();
  });
  afterAll(() => orders.stop());

  const place = async ({ test = true, paymentMethod = 'pm_ok' } = {}) => {
    const { store, helpers } = orders;
    // The fake Stripe, which charges live orders, has other payment methods than the sandbox.
    const creator = await store.creator(test ? paymentMethod : 'pm_card_visa', { test });
    const { sku } = await store.release(creator.id, [{ quantity: 10 }]);
    const { status, body } = await helpers.place(
      creator,
      orderBody(sku, await store.quote(creator.token), 3),
    );
    expect(status).toBe(201);
    return { creator, id: String(body.id) };
  };
  const report = (order: { creator: Creator; id: string }, body: object, idempotencyKey?: string) =>
    orders.store.post(`/store/v1/test/orders/${order.id}/events`, order.creator.token, body, idempotencyKey);
  const read = ({ creator, id }: { creator: Creator; id: string }) => orders.store.readOrder(creator, id);

  it('charges and refunds a test order in the sandbox, never at the payment provider', async () => {
    const order = await place();
    expect(await read(order)).toMatchObject({ status: 'processing', billing: { payment_status: 'paid' } });
    const charges = () => orders.helpers.providerCharges(order.creator);
    expect(await charges()).toMatchObject([{ outcome: 'succeeded', refunded: false }]);
    expect((await report(order, { event: 'cancelled' })).body.billing.payment_status).toBe('refunded');
    await orders.helpers.completeAll(order.creator);
    expect(await charges()).toMatchObject([{ outcome: 'succeeded', refunded: true }]);
    expect(await orders.helpers.stock(order.creator)).toEqual([10]);
    expect(orders.stripe.requests).toEqual([]); // no earlier test has placed a live order
  });

  it.each([
    ['pm_declined', 'payment_failed'],
    ['pm_timeout', 'pending'],
  ])('lets the payment method %s decide that a test order is %s', async (paymentMethod, status) => {
    const order = await orders.helpers.withShortPaymentTimeout(() => place({ paymentMethod }));
    expect((await read(order)).status).toBe(status);
    await orders.helpers.runCompleter(order.creator);
    expect((await read(order)).status).toBe(status === 'pending' ? 'processing' : status);
  });

  it('marks test orders and test creators with livemode false, and does not mark live ones', async () => {
    for (const test of [true, false]) {
      const order = await place({ test });
      const [creator, list] = await Promise.all(
        ['creator', 'orders'].map((name) => orders.store.get(`/store/v1/${name}`, order.creator.token)),
      );
      const modes = [await read(order), creator?.body, list?.body.data[0]].map(({ livemode }) => livemode);
      expect(modes).toEqual(test ? [false, false, false] : [undefined, undefined, undefined]);
    }
  });

  it('applies reported events, and publishes the same messages as for a live order', async () => {
    const order = await place();
    const shipped = await report(order, { event: 'shipped' });
    expect(shipped.body).toMatchObject({ status: 'shipped', tracking: { carrier: 'Test Carrier' } });
    const corrected = (await report(order, { event: 'tracking_updated' })).body.tracking;
    expect(corrected.tracking_number).not.toBe(shipped.body.tracking.tracking_number);
    expect((await report(order, { event: 'delivered' })).body.status).toBe('delivered');
    expect(await orders.helpers.events(order.creator, 'order.')).toEqual([
      'order.created',
      'order.processing',
      'order.shipped',
      'order.tracking_updated',
      'order.delivered',
    ]);
  });

  it('applies events in the order of their requests, although the clock of a replica is behind', async () => {
    const order = await place();
    const { tracking } = (await report(order, { event: 'shipped' })).body;
    const corrected = await orders.helpers.withClockAt(Date.now() - 2_000, () =>
      report(order, { event: 'tracking_updated' }),
    );
    expect(corrected.body.tracking.tracking_number).not.toBe(tracking.tracking_number);
  });

  it('publishes no message of a test order to a warehouse that binds order.* or single order messages', async () => {
    const { broker } = orders.store;
    const connection = await connect(broker.url);
    try {
      const channel = await connection.createChannel();
      const { queue } = await channel.assertQueue('', { exclusive: true });
      const { factsExchange } = topologyOf(broker.namespace);
      for (const pattern of ['order.*', 'order.processing', 'order.cancelled'])
        await channel.bindQueue(queue, factsExchange, pattern);
      const live = await place({ test: false });
      const test = await place();
      await report(test, { event: 'cancelled' });
      await orders.helpers.waitUntilPublished();
      const received: string[] = [];
      for (let raw = await channel.get(queue); raw !== false; raw = await channel.get(queue))
        received.push(JSON.parse(raw.content.toString()).data.order.creator_id);
      // order.created and order.processing of the live order
      expect(received).toEqual([live.creator.id, live.creator.id]);
    } finally {
      await connection.close();
    }
  });

  it('rejects an event of an order that already stores the maximum of events', async () => {
    const order = await place();
    await report(order, { event: 'shipped' });
    await orders.store.database.run(fillHistory, [order.creator.id]);
    const { status, body } = await report(order, { event: 'tracking_updated' });
    expect([status, body.details]).toEqual([409, [{ field: 'event', reason: 'too_many_events' }]]);
  });

  it('rejects an event that does not fit the status, and changes nothing', async () => {
    const order = await place();
    for (const event of ['delivered', 'tracking_updated']) {
      const { status, body } = await report(order, { event });
      expect([status, body.details]).toEqual([409, [{ field: 'event', reason: 'status_mismatch' }]]);
    }
    expect((await read(order)).status).toBe('processing');
  });

  it.each([{}, { event: 'lost' }, { event: 7 }])('rejects %j and names the field', async (body) => {
    const response = await report(await place(), body);
    expect([response.status, response.body.details[0].field]).toEqual([400, 'event']);
  });

  it('rejects an event of a live order, and returns 404 for an order of another creator and for an unknown order', async () => {
    const live = await place({ test: false });
    const { status, body } = await report(live, { event: 'shipped' });
    expect([status, body.details]).toEqual([409, [{ field: 'id', reason: 'not_a_test_order' }]]);
    expect((await read(live)).status).toBe('processing');
    const { id } = await place();
    for (const unknown of [id, 'ord_00000000000000000000000000', 'x'])
      expect((await report({ creator: live.creator, id: unknown }, { event: 'shipped' })).status).toBe(404);
  });

  it('applies an event once for repeated requests with a key', async () => {
    const order = await place();
    const idempotencyKey = newKey();
    const [first, second] = [
      await report(order, { event: 'shipped' }, idempotencyKey),
      await report(order, { event: 'shipped' }, idempotencyKey),
    ];
    expect([first.status, second.status, second.get('idempotent-replayed')]).toEqual([200, 200, 'true']);
    expect(second.body).toEqual(first.body);
    const other = await report(order, { event: 'delivered' }, idempotencyKey);
    expect([other.status, other.body.details[0].reason]).toEqual([409, 'body_mismatch']);
    await report(order, { event: 'delivered' });
    const later = await report(order, { event: 'shipped' }, idempotencyKey);
    expect([later.body.status, later.get('idempotent-replayed')]).toEqual(['delivered', 'true']);
  });

  it('rejects a cancellation that waits for an event with the same key, without a deadlock', async () => {
    const order = await place();
    const idempotencyKey = newKey();
    const { database, post } = orders.store;
    const locking = await database.begin();
    await locking.tx.run(lockOrder, [parsePublicId('ord', order.id)]);
    const reporting = report(order, { event: 'shipped' }, idempotencyKey).then(({ status }) => status);
    await untilLockWaits(database);
    const path = `/store/v1/orders/${order.id}/cancel`;
    const cancelling = post(path, order.creator.token, {}, idempotencyKey).then(({ status, body }) => [
      status,
      body.details?.[0].reason,
    ]);
    await untilLockWaits(database, { count: 2 });
    await locking.commit();
    expect([await reporting, await cancelling]).toEqual([200, [409, 'body_mismatch']]);
  });

  it('requires the scope orders:create', async () => {
    const order = await place();
    const token = await orders.store.tokens.token({
      creator_id: order.creator.id,
      client_id: 'c',
      scope: 'orders:read',
    });
    expect(
      (await report({ ...order, creator: { ...order.creator, token } }, { event: 'shipped' })).status,
    ).toBe(403);
  });

  it.each(['creator', 'release'])(
    'approves the release of a test creator with list prices and without an operator, if the message of the %s arrives first',
    async (first) => {
      const { store } = orders;
      await store.release(uuidv7()); // loads the product types
      const metadata = { occurredAt: new Date() };
      const id = uuidv7();
      const sent = [
        messages.creatorRegistered.make({ creator: creatorSnapshot(id, { test: true }) }, metadata),
        messages.editionCreated.make({ edition: editionSnapshot(id) }, metadata),
      ];
      await store.broker.publish(...(first === 'creator' ? sent : sent.toReversed()));
      const token = await store.tokens.token({ creator_id: id, client_id: 'c', scope: 'releases:read' });
      const product = await eventually(async () => {
        const { body } = await store.get('/store/v1/releases?format=detailed', token);
        return body.data[0]?.products.find(({ status }: { status: string }) => status === 'available');
      });
      expect(product.price).toEqual({ amount: cataloguePrices.GBP, currency: 'GBP' });
    },
  );
});

describe('the simulated warehouse', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi({ TEST_ORDER_STEP_MS: '1' });
  });
  afterAll(() => store.stop());

  const place = async (test: boolean) => {
    const creator = await store.creator('pm_ok', { test });
    const { sku } = await store.release(creator.id);
    const rate = await store.quote(creator.token);
    const { body } = await store.post('/store/v1/orders', creator.token, orderBody(sku, rate, 2));
    const read = () => store.readOrder(creator, body.id);
    return { id: String(body.id), sku, creator, read };
  };
  const untilDelivered = ({ read }: Awaited<ReturnType<typeof place>>) =>
    eventually(async () => {
      await store.app.get(SimulatedWarehouse).round();
      return (await read()).status === 'delivered';
    });

  it('ships and delivers test orders after TEST_ORDER_STEP_MS, and no live orders', async () => {
    const [live, test] = [await place(false), await place(true)];
    await untilDelivered(test);
    expect((await live.read()).status).toBe('processing');
  });

  it('ships a test order 10 minutes after its payment by default, and delivers it 10 minutes later', async () => {
    const defaultStepMs = storeApiSettings.shape.TEST_ORDER_STEP_MS.parse(undefined);
    const step = jest.replaceProperty(store.config, 'TEST_ORDER_STEP_MS', defaultStepMs);
    const order = await place(true);
    const statusAfter = async (age: string) => {
      await store.database.run(makeOlder, [order.creator.id, age]);
      await store.app.get(SimulatedWarehouse).round();
      return (await order.read()).status;
    };
    try {
      // The order itself becomes less than a minute older during the test.
      expect([await statusAfter('9 minutes'), await statusAfter('1 minute')]).toEqual([
        'processing',
        'shipped',
      ]);
      expect([await statusAfter('9 minutes'), await statusAfter('1 minute')]).toEqual([
        'shipped',
        'delivered',
      ]);
    } finally {
      step.restore();
    }
  });

  it('reports no event on its own if TEST_ORDER_STEP_MS is 0', async () => {
    const step = jest.replaceProperty(store.config, 'TEST_ORDER_STEP_MS', 0);
    try {
      const order = await place(true);
      await store.database.run(makeOlder, [order.creator.id, '1 day']);
      expect(await store.app.get(SimulatedWarehouse).round()).toBe(false);
      expect((await order.read()).status).toBe('processing');
    } finally {
      step.restore();
    }
  });

  it('skips an order that can store no further event, and one that was shipped with items, but handles others', async () => {
    const full = await place(true);
    await eventually(async () => {
      await store.app.get(SimulatedWarehouse).round();
      return (await full.read()).status !== 'processing';
    });
    await store.database.run(fillHistory, [full.creator.id]);
    const partial = await place(true);
    const tracking = { carrier: 'DHL', tracking_number: 'D1', tracking_url: 'https://track.example/D1' };
    await store.broker.publish(
      messages.fulfilmentShipped.make(
        { order_id: partial.id, ...tracking, items: [{ sku: partial.sku, quantity: 1 }] },
        { occurredAt: new Date() },
      ),
    );
    await eventually(async () => (await partial.read()).status === 'shipped');
    const before = [await full.read(), await partial.read()];
    await untilDelivered(await place(true));
    expect([await full.read(), await partial.read()]).toEqual(before);
  });
});
