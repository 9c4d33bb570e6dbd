import { messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { z } from 'zod';
import { editionSnapshot } from '../connected-creator/snapshots.fixture.js';
import { cancelled, corrected, delivered, shipped } from './fulfilment.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type Creator } from '../store-api.fixture.js';

const stockOf = statement('test.stock', 'SELECT quantity FROM products WHERE creator_id = $1 ORDER BY id');
const refundsOf = statement(
  'test.refunds',
  `SELECT count(*) AS refunds FROM sandbox_charges s JOIN charges c ON c.id::text = s.idempotency_key JOIN orders o ON o.id = c.order_id
   WHERE o.creator_id = $1 AND s.refunded_at IS NOT NULL`,
);

const anyOutgoing = statement('test.outgoing', 'SELECT 1 FROM outbox LIMIT 1');

const stockChange = z.object({
  product: z.object({ creator_id: z.string(), quantity: z.number(), updated_at: z.string() }),
  previous_quantity: z.number().nullable(),
});

const metadata = { occurredAt: new Date() };

let store: StoreApiUnderTest;
let creator: Creator;
let sku: string;
beforeAll(async () => {
  store = await startStoreApi();
});
afterAll(() => store.stop());
beforeEach(async () => {
  creator = await store.creator();
  ({ sku } = await store.release(creator.id, [{ quantity: 10 }]));
});

describe('a fulfilment event', () => {
  const placeOrder = async (quantity = 1): Promise<string> => {
    const response = await store.post(
      '/store/v1/orders',
      creator.token,
      orderBody(sku, await store.quote(creator.token), quantity),
    );
    return response.body.id;
  };
  const read = (id: string) => store.readOrder(creator, id);
  /** The types of the messages about an order, once all that were committed are published. */
  const eventsOf = async (id: string): Promise<string[]> => {
    await eventually(async () => (await store.database.row(anyOutgoing)) === undefined);
    const last = messages.fulfilmentStockSet.make({ sku, quantity: 10 }, metadata);
    await store.broker.publish(last);
    await eventually(() => store.broker.published.some((message) => message.id === last.id));
    return store.broker.published
      .filter(({ type, data }) => type.startsWith('order.') && JSON.stringify(data).includes(id))
      .map(({ type }) => type);
  };

  it('ships the order with the first package, updates tracking with later ones, and delivers it with the last', async () => {
    const id = await placeOrder();
    expect(await store.publishAndWait(shipped(id, 'TEST1', 1), shipped(id, 'TEST2', 2))).toEqual([
      'applied',
      'applied',
    ]);
    expect(await read(id)).toMatchObject({
      status: 'shipped',
      tracking: {
        carrier: 'Royal Mail',
        tracking_number: 'TEST2',
        tracking_url: 'https://track.example/TEST2',
        updated_at: expect.any(String),
        shipped_at: expect.any(String),
        delivered_at: null,
        packages: [{ tracking_number: 'TEST1' }, { tracking_number: 'TEST2' }],
      },
    });
    await store.publishAndWait(delivered(id, 3, 'TEST1'));
    expect((await read(id)).status).toBe('shipped');
    await store.publishAndWait(delivered(id, 4));
    const order = await read(id);
    expect(order.status).toBe('delivered');
    expect(order.tracking.delivered_at).toEqual(expect.any(String));
    expect(await eventsOf(id)).toEqual([
      'order.created',
      'order.processing',
      'order.shipped',
      'order.tracking_updated',
      'order.delivered',
    ]);
  });

  it('corrects the newest package, or the named one', async () => {
    const id = await placeOrder();
    await store.publishAndWait(shipped(id, 'TEST1', 1), shipped(id, 'TEST2', 2));
    await store.publishAndWait(corrected(id, 'TEST3', 3));
    await store.publishAndWait(corrected(id, 'TEST4', 3, 'TEST1'));
    const { tracking } = await read(id);
    expect(tracking.packages.map((parcel: { tracking_number: string }) => parcel.tracking_number)).toEqual([
      'TEST4',
      'TEST3',
    ]);
    expect(tracking.tracking_number).toBe('TEST3');
  });

  it('is applied once when it arrives twice, with the same id or another one', async () => {
    const id = await placeOrder();
    const shipment = shipped(id, 'TEST1', 1);
    await store.publishAndWait(shipment, shipment, shipped(id, 'TEST1', 1));
    expect((await eventsOf(id)).filter((type) => type === 'order.shipped')).toHaveLength(1);
    expect((await read(id)).tracking.packages).toHaveLength(1);
  });

  it('corrects once when the correction is repeated', async () => {
    const id = await placeOrder();
    await store.publishAndWait(shipped(id, 'TEST1', 1));
    const correction = () => corrected(id, 'TEST2', 2, 'TEST1');
    expect(await store.publishAndWait(correction(), correction())).toEqual(['applied', 'applied']);
    expect((await read(id)).tracking.packages).toHaveLength(1);
    expect((await eventsOf(id)).filter((type) => type === 'order.tracking_updated')).toHaveLength(1);
  });

  it('cancels an order before it ships, with one refund and one return of stock', async () => {
    const id = await placeOrder(3);
    expect(await store.database.row(stockOf, [creator.id])).toEqual({ quantity: 7 });
    await store.publishAndWait(cancelled(id, 1), cancelled(id, 1));
    expect(await read(id)).toMatchObject({ status: 'cancelled', billing: { payment_status: 'refunded' } });
    expect(await store.database.row(stockOf, [creator.id])).toEqual({ quantity: 10 });
    await store.resumeOrders();
    await store.resumeOrders();
    expect(await store.database.row(refundsOf, [creator.id])).toEqual({ refunds: 1 });
  });

  it("is rejected with a reason, and changes nothing, when the order's status does not allow it", async () => {
    const id = await placeOrder();
    await store.publishAndWait(shipped(id, 'TEST1', 1));
    const rejections = await store.publishAndWait(
      cancelled(id, 2),
      shipped('ord_00000000000000000000000000', 'TEST1', 1),
      shipped('nonsense', 'TEST1', 1),
      messages.fulfilmentStockSet.make({ sku: 'prod_00000000000000000000000000', quantity: 1 }, metadata),
    );
    expect(rejections).toEqual([
      'cannot cancel an order that is shipped',
      'order ord_00000000000000000000000000 does not exist',
      'order nonsense does not exist',
      'product prod_00000000000000000000000000 does not exist',
    ]);
    expect((await read(id)).status).toBe('shipped');
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toHaveLength(4);
  });
});

describe('the catalogue', () => {
  it('publishes out_of_stock and in_stock exactly once per crossing of zero', async () => {
    const { skus, uuid } = await store.release(creator.id);
    const counted = (quantity: number, index: number) =>
      messages.fulfilmentStockSet.make(
        { sku: skus[0] ?? '', quantity },
        { occurredAt: new Date(metadata.occurredAt.getTime() + index) },
      );
    for (const count of [5, 5, 0, 0, 4].map(counted)) await store.publishAndWait(count);
    const productEvents = () =>
      store.broker.published
        .filter(({ type, data }) => type.startsWith('product.') && JSON.stringify(data).includes(uuid))
        .map(({ type }) => type);
    await eventually(() => productEvents().length >= 5);
    expect(productEvents()).toEqual([
      'product.inventory_changed',
      'product.inventory_changed',
      'product.out_of_stock',
      'product.inventory_changed',
      'product.in_stock',
    ]);
    const previous = store
      .published('product.inventory_changed')
      .filter(({ data }) => JSON.stringify(data).includes(uuid))
      .map(({ data }) => stockChange.parse(data).previous_quantity);
    expect(previous).toEqual([null, 5, 0]); // it was unlimited before
  });

  it('gives each change of stock a later updated_at, so that the newest one is current', async () => {
    const rate = await store.quote(creator.token);
    await Promise.all(
      Array.from({ length: 8 }, () => store.post('/store/v1/orders', creator.token, orderBody(sku, rate))),
    );
    const changes = () =>
      store
        .published('product.inventory_changed')
        .map(({ data }) => stockChange.parse(data).product)
        .filter(({ creator_id }) => creator_id === creator.id);
    await eventually(() => changes().length === 8);
    const byTime = changes().sort((one, other) => (one.updated_at < other.updated_at ? -1 : 1));
    expect(byTime.map(({ quantity }) => quantity)).toEqual([9, 8, 7, 6, 5, 4, 3, 2]);
    expect(new Set(byTime.map(({ updated_at }) => updated_at)).size).toBe(8);
  });

  it('withdraws and releases a product, and approves a pending release', async () => {
    const { id, sku: pending } = await store.release(creator.id, [{ status: 'pending' }]);
    const status = async () => (await store.get(`/store/v1/releases/${id}`, creator.token)).body.status;
    expect(await status()).toBe('pending');
    await store.publishAndWait(messages.catalogueReleaseApproved.make({ release_id: id }, metadata));
    expect(await status()).toBe('available');
    await store.publishAndWait(messages.fulfilmentProductWithdrawn.make({ sku: pending }, metadata));
    expect(await status()).toBe('unavailable');
    const response = await store.post(
      '/store/v1/orders',
      creator.token,
      orderBody(pending, await store.quote(creator.token)),
    );
    expect(response.body.details).toEqual([{ field: 'items.0.sku', reason: 'not_available' }]);
    await store.publishAndWait(messages.fulfilmentProductReleased.make({ sku: pending }, metadata));
    expect(await status()).toBe('available');
  });

  it('adds an edition of the Creator API as a pending release with one pending product', async () => {
    const edition = editionSnapshot(creator.id, { title: 'Night Ferry', ean: '2000000000022' });
    await store.publishAndWait(
      messages.editionCreated.make({ edition }, metadata),
      messages.editionCreated.make({ edition }, metadata),
    );
    const { body } = await store.get('/store/v1/releases?search=night', creator.token);
    expect(body.data).toMatchObject([
      { name: 'Night Ferry', artist_name: 'Harbour Lights', price_range: null },
    ]);
    const { body: release } = await store.get(`/store/v1/releases/${body.data[0].id}`, creator.token);
    expect(release).toMatchObject({
      status: 'pending',
      products: [{ status: 'pending', barcode: '2000000000022' }],
    });
  });
});
