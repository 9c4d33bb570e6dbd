import { parsePublicId, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { openChargeColumns } from '../../billing/open-charge.js';
import type { OpenCharge } from '../../payments/payment-gateway.js';
import { type StoreApiUnderTest, startStoreApi } from '../../test/store-api.fixture.js';
import { eventually } from '@fulfilment/testing';
import { orderHelpers } from '../order-helpers.fixture.js';
import { readItems, orderColumns, type OrderRow } from '../order-row.js';
import type { NewOrder } from '../placing/new-order.js';
import { SettleUnchanged } from './settle-unchanged.js';

const readOrder = statement('test.order', `SELECT ${orderColumns} FROM orders WHERE id = $1`);
const readCharge = statement(
  'test.open-charge',
  `SELECT ${openChargeColumns} FROM charges c WHERE order_id = $1`,
);
const readSettled = statement(
  'test.settled',
  `SELECT orders.id, orders.status, orders.payment_status AS "paymentStatus", version, charged_at AS "chargedAt",
          json_build_object('status', c.status, 'reference', c.provider_reference) AS charge, key.response
   FROM orders JOIN charges c ON c.order_id = orders.id JOIN idempotency_keys key ON key.order_id = orders.id
   WHERE orders.id = ANY($1) ORDER BY array_position($1, orders.id)`,
);
const lockOrder = statement('test.lock-order', 'SELECT FROM orders WHERE id = $1 FOR UPDATE');
const lockCharge = statement('test.lock-charge', 'SELECT FROM charges WHERE order_id = $1 FOR UPDATE');
const incrementVersion = statement(
  'test.increment-version',
  'UPDATE orders SET version = version + 1 WHERE id = $1',
);

/** Returns a time after the order was placed, which differs between the orders of a test. */
const chargedAtOf = ({ row }: NewOrder): Date => new Date(row.created_at.getTime() + 1_000);

describe('SettleUnchanged, for orders of concurrent requests,', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => (store = await startStoreApi()));
  afterAll(() => store.stop());

  /** Places an order that stays pending. Returns it as the request that wrote it knows it. */
  const pendingOrder = async (): Promise<NewOrder> => {
    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder({ paymentMethod: 'pm_timeout' });
    const placed = await helpers.withShortPaymentTimeout(async () => helpers.place(creator, body));
    const id = parsePublicId('ord', placed.body.id);
    const row = await store.database.row<OrderRow>(readOrder, [id]);
    const charge = await store.database.row<OpenCharge>(readCharge, [id]);
    if (row === undefined || charge === undefined) throw new Error('The order was not placed.');
    const items = await readItems(store.database, row.id);
    return { row, items, charge, createdAtMonotonicMs: performance.now() };
  };
  const settle = (orders: readonly NewOrder[], references: readonly string[] = []) =>
    Promise.all(
      orders.map((order, index) =>
        store.app.get(SettleUnchanged).run(order, {
          status: 'succeeded',
          chargedAt: chargedAtOf(order),
          reference: references[index] ?? null,
        }),
      ),
    );
  const processing = { id: expect.any(String), status: 'processing' };

  it('writes the changes, the event and the response of each order', async () => {
    const orders = [await pendingOrder(), await pendingOrder(), await pendingOrder()];
    const ids = orders.map(({ row }) => publicId('ord', row.id));
    expect(await settle(orders, ['first', 'second', 'third'])).toEqual(
      ids.map((id) => ({ id, status: 'processing' })),
    );
    const settled = await store.database.rows<object>(readSettled, [orders.map(({ row }) => row.id)]);
    expect(settled).toEqual(
      orders.map((order, index) => ({
        id: order.row.id,
        status: 'processing',
        paymentStatus: 'paid',
        version: order.row.version + 1,
        chargedAt: chargedAtOf(order),
        charge: { status: 'succeeded', reference: ['first', 'second', 'third'][index] },
        response: { id: ids[index], status: 'processing' },
      })),
    );
    for (const { row } of orders) {
      const { data } = await eventually(() =>
        store.broker.published.find(
          ({ type, data: about }) => type === 'order.processing' && JSON.stringify(about).includes(row.id),
        ),
      );
      expect(data).toMatchObject({ order: { version: row.version + 1, payment: { status: 'paid' } } });
    }
  });

  it('leaves out all orders if PostgreSQL rejects the statement', async () => {
    const orders = [await pendingOrder(), await pendingOrder()];
    expect(await settle(orders, ['no text in PostgreSQL: \0'])).toEqual([undefined, undefined]);
    expect(await settle(orders)).toEqual([processing, processing]);
  });

  it.each([
    ['it', lockOrder],
    ['its charge', lockCharge],
  ])('leaves out an order while a transaction has locked %s, without waiting for it', async (_, lock) => {
    const [locked, other] = [await pendingOrder(), await pendingOrder()];
    await store.database.transaction(async (tx) => {
      await tx.run(lock, [locked.row.id]);
      expect(await settle([locked, other])).toEqual([undefined, processing]);
    });
    expect(await settle([locked])).toEqual([processing]);
  });

  it('leaves out an order that has changed, and one that is settled', async () => {
    const [changed, other] = [await pendingOrder(), await pendingOrder()];
    await store.database.run(incrementVersion, [changed.row.id]);
    expect(await settle([changed, other])).toEqual([undefined, processing]);
    expect(await settle([changed, other])).toEqual([undefined, undefined]);
  });
});
