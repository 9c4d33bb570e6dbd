import { statement } from '@fulfilment/database';
import { cancelled } from '../../fulfilment/fulfilment.fixture.js';
import { Stock } from '../../catalogue/stock/stock.js';
import { cataloguePrices } from '../../catalogue/catalogue-file.fixture.js';
import {
  newKey,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  shippingPrice,
} from '../../test/store-api.fixture.js';
import { startStoreProcess } from '../../test/store-process.fixture.js';
import type { FaultPoint } from '../../fault-points.js';
import { type OrderHelpers, orderHelpers, placedOrdersWith } from '../order-helpers.fixture.js';
import { RechargeOrder } from '../../billing/recharging/recharge-order.js';

/**
 * Ends the leases of a killed process on a creator's keys, orders and refunds, instead of waiting for them.
 */
const endLeases = statement(
  'test.end-leases',
  `WITH ended_keys AS (
     UPDATE idempotency_keys SET lease_until = now() WHERE creator_id = $1
   ), due_orders AS (
     UPDATE orders SET resume_at = now() WHERE creator_id = $1 AND resume_at IS NOT NULL
   )
   UPDATE charges SET refund_at = now()
   WHERE status = 'refund_due' AND order_id IN (SELECT id FROM orders WHERE creator_id = $1)`,
);

/** The store-api in this process is the replica that continues. Its background loops are stopped. */
describe('a killed store-api', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let running: Awaited<ReturnType<typeof startStoreProcess>> | undefined;

  beforeAll(async () => {
    store = await startStoreApi({ RESUME_AFTER_MS: '100' });
    helpers = orderHelpers(store);
  });
  afterAll(() => store.stop());
  afterEach(() => running?.stop());

  /** Starts a process that kills itself at the fault point. */
  const startDyingAt = async (point: FaultPoint) => {
    running = await startStoreProcess(store, { FAULT_POINT: point });
    return running;
  };
  /** Expects that the process kills itself, and ends its leases. */
  const expectKilledAndEndLeases = async (dying: { readonly ended: Promise<unknown> }, creator: Creator) => {
    expect(await dying.ended).toBe('SIGKILL');
    await store.database.run(endLeases, [creator.id]);
  };
  /** Creates a creator with ten pieces, and returns the body of an order of three of them. */
  const prepareOrder = (paymentMethod: 'pm_ok' | 'pm_declined') =>
    helpers.prepareOrder({ paymentMethod, stock: 10, pieces: 3 });
  /** Expects the events in any order: another process publishes what the killed one had begun to publish. */
  const expectEvents = async (creator: Creator, expected: readonly string[]) =>
    expect((await helpers.events(creator, 'order.')).toSorted()).toEqual(expected.toSorted());
  const expectRefundAndReturn = async (creator: Creator) => {
    await helpers.completeAll(creator);
    expect(await helpers.providerCharges(creator)).toMatchObject([{ outcome: 'succeeded', refunded: true }]);
    expect(await helpers.stock(creator)).toEqual([10]);
    await expectEvents(creator, ['order.created', 'order.processing', 'order.cancelled']);
  };
  const statusOf = async (creator: Creator, id: string) => (await store.readOrder(creator, id)).status;

  const expectedByStatus = {
    processing: {
      method: 'pm_ok',
      outcome: 'succeeded',
      stock: 7,
      events: ['order.created', 'order.processing'],
    },
    payment_failed: {
      method: 'pm_declined',
      outcome: 'declined',
      stock: 10,
      events: ['order.created', 'order.payment_failed'],
    },
  } as const;
  it.each<[FaultPoint, keyof typeof expectedByStatus]>([
    ['key-claimed', 'processing'],
    ['order-written', 'processing'],
    ['order-placed', 'processing'],
    ['charged', 'processing'],
    ['order-settled', 'processing'],
    ['charged', 'payment_failed'],
    ['order-settled-uncommitted', 'payment_failed'],
  ])(
    'at %s: a repeated request results in one order with status %s, charged and counted once',
    async (point, status) => {
      const expected = expectedByStatus[status];
      const { creator, body } = await prepareOrder(expected.method);
      const idempotencyKey = newKey();
      const dying = await startDyingAt(point);
      await dying.untilReady();
      await expect(dying.place(creator, body, idempotencyKey)).rejects.toThrow();
      await expectKilledAndEndLeases(dying, creator);

      const countedBefore = await placedOrdersWith(status);
      const response = await helpers.place(creator, body, idempotencyKey);
      expect([response.status, response.body.status]).toEqual([201, status]);
      const isReplay = point === 'order-settled'; // the only point at which the response is stored
      expect(await placedOrdersWith(status)).toBe(countedBefore + (isReplay ? 0 : 1));
      expect(await helpers.orderCount(creator)).toBe(1);
      expect(await statusOf(creator, response.body.id)).toBe(status);
      const cost = 3 * cataloguePrices.GBP + shippingPrice;
      expect(await helpers.providerCharges(creator)).toEqual([
        { amount: cost, currency: 'GBP', outcome: expected.outcome, refunded: false },
      ]);
      expect(await helpers.stock(creator)).toEqual([expected.stock]);
      await expectEvents(creator, expected.events);
    },
  );

  it.each<FaultPoint>(['order-placed', 'charged'])(
    'at %s: the completer finishes the order without a repeated request',
    async (point) => {
      const { creator, body } = await prepareOrder('pm_ok');
      const dying = await startDyingAt(point);
      await dying.untilReady();
      await expect(dying.place(creator, body, newKey())).rejects.toThrow();
      await expectKilledAndEndLeases(dying, creator);

      await helpers.completeAll(creator);
      await expectEvents(creator, ['order.created', 'order.processing']);
      expect([await helpers.orderCount(creator), await helpers.stock(creator)]).toEqual([1, [7]]);
      expect(await helpers.providerCharges(creator)).toHaveLength(1);
    },
  );

  it('charges once when it dies at the fault point "charged" of a recharge', async () => {
    const { creator, body } = await prepareOrder('pm_declined');
    const { body: order } = await helpers.place(creator, body);
    await helpers.setPaymentMethod(creator, 'pm_ok');
    await new RechargeOrder(store.database, store.app.get(Stock)).run(order.id);
    // The completer of the process makes the charge.
    await expectKilledAndEndLeases(await startDyingAt('charged'), creator);
    expect(await statusOf(creator, order.id)).toBe('payment_failed');

    await helpers.completeAll(creator);
    expect(await statusOf(creator, order.id)).toBe('processing');
    expect(await helpers.providerCharges(creator)).toMatchObject([
      { outcome: 'declined' },
      { outcome: 'succeeded' },
    ]);
    expect(await helpers.stock(creator)).toEqual([7]);
  });

  it.each<[FaultPoint, string | undefined]>([
    ['order-cancelled-uncommitted', undefined],
    ['order-cancelled', 'true'],
  ])(
    'at %s: a repeated cancellation refunds the charge and returns the stock once',
    async (point, replayed) => {
      const { creator, body } = await prepareOrder('pm_ok');
      const { body: order } = await helpers.place(creator, body);
      const idempotencyKey = newKey();
      const dying = await startDyingAt(point);
      await dying.untilReady();
      await expect(dying.cancel(creator, order.id, idempotencyKey)).rejects.toThrow();
      await expectKilledAndEndLeases(dying, creator);

      const path = `/store/v1/orders/${order.id}/cancel`;
      const repeated = await store.post(path, creator.token, {}, idempotencyKey);
      expect([repeated.status, repeated.body.status]).toEqual([200, 'cancelled']);
      expect(repeated.get('idempotent-replayed')).toBe(replayed);
      await expectRefundAndReturn(creator);
    },
  );

  it('refunds the charge and returns the stock once when it dies at the fault point "refunded"', async () => {
    const { creator, body } = await prepareOrder('pm_ok');
    const { body: order } = await helpers.place(creator, body);
    await store.publishAndWait(cancelled(order.id));
    // The background loop of the process makes the refund.
    await expectKilledAndEndLeases(await startDyingAt('refunded'), creator);

    await expectRefundAndReturn(creator);
  });
});
