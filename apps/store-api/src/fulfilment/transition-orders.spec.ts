import { messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { z } from 'zod';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

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

describe('a fulfilment event', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;
  let sku: string;

  beforeAll(async () => {
    store = await startStoreApi();
  });
  afterAll(() => store.stop());
  beforeEach(async () => {
    creator = await store.creator();
    [sku = ''] = (await store.release(creator.id, [{ quantity: 10 }])).skus;
  });

  const placed = async (quantity = 1): Promise<string> => {
    const response = await store.post(
      '/store/v1/orders',
      creator.token,
      orderBody(sku, await store.quote(creator.token), quantity),
    );
    return response.body.id;
  };
  const read = async (id: string) => (await store.get(`/store/v1/orders/${id}`, creator.token)).body;
  const at = { occurredAt: new Date() };
  const parcel = (order_id: string, tracking_number = 'TEST1') => ({
    order_id,
    carrier: 'Royal Mail',
    tracking_number,
    tracking_url: `https://track.example/${tracking_number}`,
  });
  const ship = (id: string, number?: string) => messages.fulfilmentShipped.make(parcel(id, number), at);
  /** The types of the messages about an order, once all that were committed are published. */
  const eventsOf = async (id: string): Promise<string[]> => {
    await eventually(async () => (await store.database.row(anyOutgoing)) === undefined);
    const last = messages.fulfilmentStockSet.make({ sku, quantity: 10 }, at);
    await store.broker.publish(last);
    await eventually(() => store.broker.published.some((message) => message.id === last.id));
    return store.broker.published
      .filter(({ type, data }) => type.startsWith('order.') && JSON.stringify(data).includes(id))
      .map(({ type }) => type);
  };

  it('ships the order with the first package, updates tracking with later ones, and delivers it with the last', async () => {
    const id = await placed();
    expect(await store.publishAndWait(ship(id, 'TEST1'), ship(id, 'TEST2'))).toEqual(['applied', 'applied']);
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
    await store.publishAndWait(
      messages.fulfilmentDelivered.make({ order_id: id, tracking_number: 'TEST1' }, at),
    );
    expect((await read(id)).status).toBe('shipped');
    await store.publishAndWait(messages.fulfilmentDelivered.make({ order_id: id }, at));
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
    const id = await placed();
    await store.publishAndWait(ship(id, 'TEST1'), ship(id, 'TEST2'));
    await store.publishAndWait(messages.fulfilmentTrackingCorrected.make(parcel(id, 'TEST3'), at));
    await store.publishAndWait(
      messages.fulfilmentTrackingCorrected.make(
        { ...parcel(id, 'TEST4'), replaces_tracking_number: 'TEST1' },
        at,
      ),
    );
    const { tracking } = await read(id);
    expect(tracking.packages.map((one: { tracking_number: string }) => one.tracking_number)).toEqual([
      'TEST4',
      'TEST3',
    ]);
    expect(tracking.tracking_number).toBe('TEST3');
  });

  it('is applied once when it arrives twice, with the same id or another one', async () => {
    const id = await placed();
    const shipped = ship(id);
    await store.publishAndWait(shipped, shipped, ship(id));
    expect((await eventsOf(id)).filter((type) => type === 'order.shipped')).toHaveLength(1);
    expect((await read(id)).tracking.packages).toHaveLength(1);
  });

  it('corrects once when the correction is repeated', async () => {
    const id = await placed();
    await store.publishAndWait(ship(id, 'TEST1'));
    const correct = () =>
      messages.fulfilmentTrackingCorrected.make(
        { ...parcel(id, 'TEST2'), replaces_tracking_number: 'TEST1' },
        at,
      );
    expect(await store.publishAndWait(correct(), correct())).toEqual(['applied', 'applied']);
    expect((await read(id)).tracking.packages).toHaveLength(1);
    expect((await eventsOf(id)).filter((type) => type === 'order.tracking_updated')).toHaveLength(1);
  });

  it('cancels an order before it ships, with one refund and one return of stock', async () => {
    const id = await placed(3);
    expect(await store.database.row(stockOf, [creator.id])).toEqual({ quantity: 7 });
    const cancelled = () => messages.fulfilmentCancelled.make({ order_id: id, reason: 'pressing fault' }, at);
    await store.publishAndWait(cancelled(), cancelled());
    expect(await read(id)).toMatchObject({ status: 'cancelled', billing: { payment_status: 'refunded' } });
    expect(await store.database.row(stockOf, [creator.id])).toEqual({ quantity: 10 });
    await store.resumeOrders();
    await store.resumeOrders();
    expect(await store.database.row(refundsOf, [creator.id])).toEqual({ refunds: 1 });
  });

  it("is rejected with a reason, and changes nothing, when the order's status does not allow it", async () => {
    const id = await placed();
    await store.publishAndWait(ship(id));
    const rejections = await store.publishAndWait(
      messages.fulfilmentCancelled.make({ order_id: id, reason: 'too late' }, at),
      ship('ord_00000000000000000000000000'),
      ship('nonsense'),
      messages.fulfilmentStockSet.make({ sku: 'prod_00000000000000000000000000', quantity: 1 }, at),
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

  it('publishes out_of_stock and in_stock exactly once per crossing of zero', async () => {
    const { skus, uuid } = await store.release(creator.id, [{}]);
    const counted = (quantity: number, index: number) =>
      messages.fulfilmentStockSet.make(
        { sku: skus[0] ?? '', quantity },
        { occurredAt: new Date(at.occurredAt.getTime() + index) },
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
    const { id, skus } = await store.release(creator.id, [{ status: 'pending' }]);
    const sku0 = skus[0] ?? '';
    const status = async () => (await store.get(`/store/v1/releases/${id}`, creator.token)).body.status;
    expect(await status()).toBe('pending');
    await store.publishAndWait(messages.catalogueReleaseApproved.make({ release_id: id }, at));
    expect(await status()).toBe('available');
    await store.publishAndWait(messages.fulfilmentProductWithdrawn.make({ sku: sku0 }, at));
    expect(await status()).toBe('unavailable');
    const response = await store.post(
      '/store/v1/orders',
      creator.token,
      orderBody(sku0, await store.quote(creator.token)),
    );
    expect(response.body.details).toEqual([{ field: 'items.0.sku', reason: 'not_available' }]);
    await store.publishAndWait(messages.fulfilmentProductReleased.make({ sku: sku0 }, at));
    expect(await status()).toBe('available');
  });

  it('adds an edition of the Creator API as a pending release with one pending product', async () => {
    const edition = {
      id: '01900000-0000-7000-8000-00000000ed17',
      creator_id: creator.id,
      title: 'Night Ferry',
      release_type_id: 1,
      ean: '2000000000022',
      created_at: new Date().toISOString(),
    };
    await store.publishAndWait(
      messages.editionCreated.make({ edition }, at),
      messages.editionCreated.make({ edition }, at),
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
