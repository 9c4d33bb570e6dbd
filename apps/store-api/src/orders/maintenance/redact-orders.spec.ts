import { publicId, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { Conflict, NotFound } from '@fulfilment/error-envelope';
import { Stock } from '../../catalogue/stock/stock.js';
import { cancelled } from '../../fulfilment/fulfilment.fixture.js';
import {
  address,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';
import { RechargeOrder } from '../../billing/recharging/recharge-order.js';
import { redactOldAddresses, redactOrder } from './redact-orders.js';

const setAgeDays = statement(
  'test.set-age',
  `UPDATE orders SET created_at = now() - $2::int * interval '1 day', updated_at = now() - $2::int * interval '1 day',
                     delivered_at = CASE WHEN status = 'delivered' THEN now() - $2::int * interval '1 day' END
   WHERE creator_id = $1`,
);
const setDeliveredDaysAgo = statement(
  'test.set-delivered',
  `UPDATE orders SET status = 'delivered', delivered_at = now() - $2::int * interval '1 day' WHERE creator_id = $1`,
);
const stored = statement(
  'test.stored-address',
  'SELECT shipping_address AS address, redacted_at IS NOT NULL AS redacted FROM orders WHERE creator_id = $1',
);
const setReason = statement(
  'test.set-reason',
  "UPDATE orders SET reason = 'Jane Doe has moved' WHERE creator_id = $1",
);
const wholeRow = statement(
  'test.order-row',
  'SELECT row_to_json(orders)::text AS row FROM orders WHERE creator_id = $1',
);

const redacted = {
  full_name: 'redacted',
  address_line_1: 'redacted',
  city: 'redacted',
  postal_code: 'redacted',
  country_code: 'GB',
};

describe('redacting orders', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;

  beforeAll(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
  });
  afterAll(() => store.stop());

  const place = async (paymentMethod: string): Promise<{ creator: Creator; order: string }> => {
    const { creator, body } = await helpers.prepareOrder({ paymentMethod });
    return { creator, order: (await helpers.place(creator, body)).body.id };
  };
  const view = async (creator: Creator, order: string) => store.readOrder(creator, order);

  it('replaces every text of the address except the country, keeps its members, and may be repeated', async () => {
    const { creator, order } = await place('pm_declined');
    const before = await view(creator, order);
    const first = await redactOrder(store.database, order);
    expect(await redactOrder(store.database, order)).toEqual(first);
    const after = await view(creator, order);
    expect(Object.keys(after.shipping_address)).toEqual(Object.keys(before.shipping_address));
    expect(after.shipping_address).toMatchObject(redacted);
    expect({ ...after, shipping_address: null }).toEqual({ ...before, shipping_address: null });
  });

  it('removes the address from every column of the order', async () => {
    const { creator, order } = await place('pm_declined');
    await redactOrder(store.database, order);
    const row = (await store.database.row<{ row: string }>(wholeRow, [creator.id]))?.row ?? '';
    for (const text of [address.full_name, address.address_line_1, address.postal_code])
      expect(row).not.toContain(text);
  });

  it('deletes the reason of a cancellation that version 1.0.0 stored', async () => {
    const { creator, order } = await place('pm_declined');
    await store.database.run(setReason, [creator.id]);
    await redactOrder(store.database, order);
    const row = await store.database.row<{ row: string }>(wholeRow, [creator.id]);
    expect(row?.row).toContain('"reason":null');
  });

  it('rejects an order that still has to be sent, until it is cancelled', async () => {
    const { creator, order } = await place('pm_ok');
    await expect(redactOrder(store.database, order)).rejects.toThrow(Conflict);
    expect((await view(creator, order)).shipping_address.full_name).toBe(address.full_name);
    await store.publishAndWait(cancelled(order));
    await redactOrder(store.database, order);
    expect((await view(creator, order)).shipping_address.full_name).toBe('redacted');
  });

  it('rejects an unknown order', async () => {
    await expect(redactOrder(store.database, publicId('ord', uuidv7()))).rejects.toThrow(NotFound);
    await expect(redactOrder(store.database, 'nonsense')).rejects.toThrow(NotFound);
  });

  it('rejects an order that is being recharged, until the charge is settled', async () => {
    const { creator, order } = await place('pm_declined');
    await new RechargeOrder(store.database, store.app.get(Stock)).run(order);
    await expect(redactOrder(store.database, order)).rejects.toThrow(
      'The order is being recharged and needs its address. Cancel the order first.',
    );
    await store.database.run(setAgeDays, [creator.id, 31]);
    await redactOldAddresses(store.database, 30);
    expect((await view(creator, order)).shipping_address.full_name).toBe(address.full_name);
    await helpers.runCompleter(creator);
    await redactOrder(store.database, order);
    expect((await view(creator, order)).shipping_address.full_name).toBe('redacted');
  });

  it('prevents a recharge of the order, since it could not be sent', async () => {
    const { order } = await place('pm_declined');
    await redactOrder(store.database, order);
    const recharge = new RechargeOrder(store.database, store.app.get(Stock));
    await expect(recharge.run(order)).rejects.toThrow(Conflict);
  });

  it('starts after the retention, and leaves out orders in progress; a retention of 0 days redacts none', async () => {
    const placeDaysAgo = async (paymentMethod: string, days: number) => {
      const placed = await place(paymentMethod);
      await store.database.run(setAgeDays, [placed.creator.id, days]);
      return placed;
    };
    const old = await placeDaysAgo('pm_declined', 31);
    const young = await placeDaysAgo('pm_declined', 29);
    const inProgress = await placeDaysAgo('pm_ok', 31);
    expect(await redactOldAddresses(store.database, 0)).toBe(0);
    expect(await store.database.row(stored, [old.creator.id])).toMatchObject({ redacted: false });
    expect(await redactOldAddresses(store.database, 30)).toBe(1);
    expect(await store.database.row(stored, [old.creator.id])).toMatchObject({
      redacted: true,
      address: redacted,
    });
    expect(await store.database.row(stored, [young.creator.id])).toMatchObject({ redacted: false });
    expect(await store.database.row(stored, [inProgress.creator.id])).toMatchObject({ redacted: false });
  });

  it('leaves out a new order whose delivery was reported with a time long ago', async () => {
    const { creator } = await place('pm_ok');
    await store.database.run(setDeliveredDaysAgo, [creator.id, 31]);
    expect(await redactOldAddresses(store.database, 30)).toBe(0);
    expect(await store.database.row(stored, [creator.id])).toMatchObject({ redacted: false });
  });
});
