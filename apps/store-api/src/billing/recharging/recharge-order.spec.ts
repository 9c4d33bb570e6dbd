import { statement } from '@fulfilment/database';
import { untilLockWaits } from '@fulfilment/database/testing';
import { Stock } from '../../catalogue/stock/stock.js';
import { cancelled } from '../../fulfilment/fulfilment.fixture.js';
import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../../orders/order-helpers.fixture.js';
import { RechargeOrder } from './recharge-order.js';
import { SettleOrder } from '../../orders/settling/settle-order.js';

const setStock = statement('test.set-stock', 'UPDATE products SET quantity = $2 WHERE creator_id = $1');
const setStatus = statement('test.set-status', 'UPDATE products SET status = $2 WHERE creator_id = $1');
const lockOrder = statement('test.lock-order', 'SELECT id FROM orders WHERE id = $1 FOR UPDATE');

describe('a recharge', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let recharge: RechargeOrder;
  let creator: Creator;
  let order: string;

  beforeAll(async () => {
    store = await startStoreApi({ PAYMENT_TIMEOUT_MS: '200' }); // for charges without a response
    helpers = orderHelpers(store);
    recharge = new RechargeOrder(store.database, store.app.get(Stock));
  });
  afterAll(() => store.stop());

  /** Places an order of two of ten pieces, whose charge is declined. */
  beforeEach(async () => {
    const prepared = await helpers.prepareOrder({ paymentMethod: 'pm_declined', stock: 10, pieces: 2 });
    const { body } = prepared;
    ({ creator } = prepared);
    order = (await helpers.place(creator, body, 'first')).body.id;
  });

  const read = () => store.readOrder(creator, order);
  const outcomes = async () => (await helpers.providerCharges(creator)).map(({ outcome }) => outcome);
  const setMethod = (method: string | null) => helpers.setPaymentMethod(creator, method);
  const cancel = () => store.publishAndWait(cancelled(order));

  it('takes the stock, charges the current payment method, and continues like a first charge', async () => {
    await setMethod('pm_ok');
    await recharge.run(order);
    expect(await helpers.stock(creator)).toEqual([8]);
    expect((await read()).status).toBe('payment_failed'); // until it is charged

    await helpers.runCompleter(creator);
    expect(await read()).toMatchObject({
      status: 'processing',
      billing: { payment_status: 'paid', charged_at: expect.any(String) },
    });
    expect(await recharge.readNewestCharge(order)).toEqual({
      status: 'processing',
      charge: 'succeeded',
      attempt: 2,
    });
    expect(await outcomes()).toEqual(['declined', 'succeeded']);
    expect(await helpers.events(creator, 'order.')).toEqual([
      'order.created',
      'order.payment_failed',
      'order.processing',
    ]);
    const [sku = ''] = (await read()).line_items.map((line: { sku: string }) => line.sku);
    const replay = await helpers.place(creator, orderBody(sku, (await read()).shipping.rate_id, 2), 'first');
    // The replay returns the first response, not the current status.
    expect(replay.body).toEqual({ id: order, status: 'payment_failed' });
  });

  it('leaves the order and the stock unchanged when it is declined, and may then be repeated', async () => {
    await recharge.run(order);
    await helpers.runCompleter(creator);
    expect((await read()).status).toBe('payment_failed');
    expect(await recharge.readNewestCharge(order)).toEqual({
      status: 'payment_failed',
      charge: 'declined',
      attempt: 2,
    });
    expect(await helpers.stock(creator)).toEqual([10]);
    expect(await helpers.events(creator, 'order.')).toEqual(['order.created', 'order.payment_failed']);

    await setMethod('pm_ok');
    await recharge.run(order);
    await helpers.runCompleter(creator);
    expect((await read()).status).toBe('processing');
    expect(await helpers.stock(creator)).toEqual([8]);
  });

  it('charges once when it is requested concurrently', async () => {
    await setMethod('pm_ok');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => recharge.run(order)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all([helpers.runCompleter(creator), helpers.runCompleter(creator)]);
    expect(await outcomes()).toEqual(['declined', 'succeeded']);
    expect(await helpers.stock(creator)).toEqual([8]);
    await expect(recharge.run(order)).rejects.toThrow(
      'The order is processing; only an order with a failed payment can be charged again.',
    );
  });

  it('is retried by the completer after the provider was silent, and blocks a second recharge until then', async () => {
    await setMethod('pm_timeout');
    await recharge.run(order);
    await helpers.runCompleter(creator);
    expect((await recharge.readNewestCharge(order)).charge).toBe('pending');
    await expect(recharge.run(order)).rejects.toThrow('A charge of the order is in progress.');
    await helpers.runCompleter(creator);
    expect((await read()).status).toBe('processing');
    expect(await outcomes()).toEqual(['declined', 'succeeded']);
  });

  it.each([
    [
      'fewer pieces are left than it needs',
      () => store.database.run(setStock, [creator.id, 1]),
      /^Not enough pieces in stock: prod_\w+\.$/,
    ],
    [
      'the product is no longer sold',
      () => store.database.run(setStatus, [creator.id, 'unavailable']),
      /^No longer available: prod_\w+\.$/,
    ],
    ['the creator has no payment method', () => setMethod(null), /no payment method/],
    ['the order is cancelled', cancel, /The order is cancelled/],
  ])('is rejected when %s, and changes nothing', async (_, change, reason) => {
    await change();
    const stock = await helpers.stock(creator);
    await expect(recharge.run(order)).rejects.toThrow(reason);
    await helpers.runCompleter(creator);
    expect(await outcomes()).toEqual(['declined']);
    expect(await helpers.stock(creator)).toEqual(stock);
  });

  it('is rejected for a malformed or unknown order id', async () => {
    await expect(recharge.run('nonsense')).rejects.toThrow(/order/);
    await expect(recharge.run(`ord_${'0'.repeat(26)}`)).rejects.toThrow(/order/);
  });

  it('is refunded, and its stock returned once, when the order is cancelled before the outcome of the recharge is known', async () => {
    await setMethod('pm_timeout');
    await recharge.run(order);
    await helpers.runCompleter(creator); // charged, but the response was lost
    await cancel();
    expect(await helpers.stock(creator)).toEqual([10]);
    // The completer settles the charge, after which its refund is due. `payment_status` stays that of the
    // declined charge, since the order is cancelled.
    await helpers.runCompleter(creator);
    await store.resumeOrdersAndRefunds();
    expect(await read()).toMatchObject({ status: 'cancelled', billing: { payment_status: 'failed' } });
    expect(await helpers.providerCharges(creator)).toMatchObject([{ refunded: false }, { refunded: true }]);
    expect(await helpers.stock(creator)).toEqual([10]);
  });

  it('loses neither pieces nor money when the orders of 20 recharges are cancelled concurrently', async () => {
    creator = await store.creator('pm_declined');
    const { skus } = await store.release(creator.id, [{ quantity: 500 }, { quantity: 500 }]);
    const rate = await store.quote(creator.token);
    const items = skus.flatMap((sku) => orderBody(sku, rate, 2).items);
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1)
      ids.push((await helpers.place(creator, { ...orderBody('', rate), items })).body.id);
    for (const [index, id] of ids.entries()) {
      await setMethod(index % 2 === 0 ? 'pm_ok' : 'pm_declined');
      await recharge.run(id);
    }
    expect(await helpers.stock(creator)).toEqual([460, 460]); // 20 orders of two pieces each
    const cancels = ids.map((id) => cancelled(id));
    await Promise.all([store.broker.publish(...cancels), helpers.runCompleter(creator)]);
    for (const message of cancels)
      expect(await store.outcomeOf(message)).toMatchObject({ outcome: 'applied' });
    await helpers.completeAll(creator); // a round skips orders that a concurrent cancellation has locked
    expect(await helpers.stock(creator)).toEqual([500, 500]);
    const charges = await helpers.providerCharges(creator);
    expect(charges.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(10);
    for (const { outcome, refunded } of charges) expect(refunded).toBe(outcome === 'succeeded');
  });

  it('locks the order before the stock when it is declined, so that it cannot deadlock with a transition', async () => {
    await recharge.run(order);
    const charge = (await helpers.charges(creator)).find(({ status }) => status === 'pending');
    if (charge === undefined) throw new Error('The order has no open charge.');
    const transition = await store.database.begin();
    await transition.tx.run(lockOrder, [charge.orderId]);
    const settled = store.app
      .get(SettleOrder)
      .run(store.database, charge, { status: 'declined', reason: 'card_declined', reference: null });
    await untilLockWaits(store.database);
    // This would deadlock if the settlement had locked the stock first.
    await transition.tx.run(setStock, [creator.id, 100]);
    await transition.commit();
    expect(await settled).toEqual({ id: order, status: 'payment_failed' });
    expect(await helpers.stock(creator)).toEqual([100 + 2]); // the declined recharge has returned two
  });
});
