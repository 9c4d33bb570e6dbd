import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { openChargeColumns } from '../../billing/open-charge.js';
import type { OpenCharge } from '../../payments/payment-gateway.js';
import { type StoreApiUnderTest, startStoreApi } from '../../test/store-api.fixture.js';
import { orderHelpers } from '../order-helpers.fixture.js';
import { itemsOf, orderColumns, type OrderRow } from '../order-row.js';
import type { NewOrder } from '../placing/new-order.js';
import { SettleUnchanged } from './settle-unchanged.js';

const readOrder = statement('test.order', `SELECT ${orderColumns} FROM orders WHERE id = $1`);
const readCharge = statement(
  'test.open-charge',
  `SELECT ${openChargeColumns('c')} FROM charges c WHERE order_id = $1`,
);
const lockOrder = statement('test.lock-order', 'SELECT FROM orders WHERE id = $1 FOR UPDATE');
const lockCharge = statement('test.lock-charge', 'SELECT FROM charges WHERE order_id = $1 FOR UPDATE');
const change = statement('test.change', 'UPDATE orders SET version = version + 1 WHERE id = $1');

describe('SettleUnchanged, for orders of concurrent requests,', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => (store = await startStoreApi()));
  afterAll(() => store.stop());

  /** A pending order, as the request that wrote it knows it. */
  const pendingOrder = async (): Promise<NewOrder> => {
    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder({ paymentMethod: 'pm_timeout' });
    const placed = await helpers.withShortPaymentTimeout(async () => helpers.place(creator, body));
    const id = parsePublicId('ord', placed.body.id);
    const row = await store.database.row<OrderRow>(readOrder, [id]);
    const charge = await store.database.row<OpenCharge>(readCharge, [id]);
    if (row === undefined || charge === undefined) throw new Error('The order was not placed.');
    const items = await itemsOf(store.database, row.id);
    return { row, items, charge, createdAtMonotonicMs: performance.now() };
  };
  const settle = (orders: readonly NewOrder[]) =>
    Promise.all(
      orders.map((order) =>
        store.app
          .get(SettleUnchanged)
          .run(order, { status: 'succeeded', chargedAt: new Date(), reference: null }),
      ),
    );
  const processing = { id: expect.any(String), status: 'processing' };

  it.each([
    ['the order', lockOrder],
    ['the charge', lockCharge],
  ])('leaves one out while a transaction has locked %s, without waiting for it', async (_, lock) => {
    const [locked, other] = [await pendingOrder(), await pendingOrder()];
    await store.database.transaction(async (tx) => {
      await tx.run(lock, [locked.row.id]);
      expect(await settle([locked, other])).toEqual([undefined, processing]);
    });
    expect(await settle([locked])).toEqual([processing]);
  });

  it('leaves out one that has changed, and one that is settled', async () => {
    const [changed, other] = [await pendingOrder(), await pendingOrder()];
    await store.database.run(change, [changed.row.id]);
    expect(await settle([changed, other])).toEqual([undefined, processing]);
    expect(await settle([changed, other])).toEqual([undefined, undefined]);
  });
});
