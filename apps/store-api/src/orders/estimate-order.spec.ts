import { statement } from '@fulfilment/database';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

const written = statement(
  'test.written',
  `SELECT (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM charges) AS charges, (SELECT count(*) FROM stock_movements) AS movements,
          (SELECT count(*) FROM idempotency_keys) AS keys, (SELECT sum(quantity) FROM products) AS stock`,
);

describe('POST /v1/orders/estimate', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;
  let sku: string;
  let limited: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    [sku = '', limited = ''] = (
      await store.release(creator.id, [{}, { quantity: 3, product_type: 'vinyl_7_single' }])
    ).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const estimate = async (body: object, token = creator.token) =>
    store.post('/store/v1/orders/estimate', token, body);
  const parcel = (items: object[] = [{ sku, quantity: 2 }], country = 'GB', shippingRate = rate) => ({
    items,
    shipping_address: { country_code: country },
    shipping_rate_id: shippingRate,
  });

  it('returns the cost of each line and of the order', async () => {
    const { status, body } = await estimate(
      parcel([
        { sku, quantity: 2 },
        { sku: limited, quantity: 1 },
      ]),
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      line_items: [
        { sku, title: 'Tidal Maps 1', quantity: 2, unit_cost: gbp(2499), cost: gbp(4998) },
        { sku: limited, title: 'Tidal Maps 2', quantity: 1, unit_cost: gbp(2499), cost: gbp(2499) },
      ],
      shipping: { rate_id: rate, amount: gbp(400) },
      cost: gbp(4998 + 2499 + 400),
      lead_time_days: 10,
    });
  });

  it('accepts the body of an order, and is what the order then costs', async () => {
    const order = { ...orderBody(limited, rate, 2), metadata: { cart: 'c_1' } };
    const { body } = await estimate(order);
    const placed = await store.post('/store/v1/orders', creator.token, order);
    expect(placed.status).toBe(201);
    const view = await store.readOrder(creator, placed.body.id);
    expect([body.cost, body.shipping]).toEqual([view.billing.amount, view.shipping]);
  });

  it('writes nothing', async () => {
    const before = await store.database.row(written);
    for (let time = 0; time < 3; time += 1) expect((await estimate(parcel())).status).toBe(200);
    expect((await estimate(parcel([{ sku: limited, quantity: 1 }]))).status).toBe(200);
    expect(await store.database.row(written)).toEqual(before);
  });

  it('is rejected for the reasons for which the order would be', async () => {
    const withoutPayment = await store.creator(null);
    const [unpaid = ''] = (await store.release(withoutPayment.id)).skus;
    const unpaidRate = await store.quote(withoutPayment.token);
    const rejections: [object, string, number, string | undefined, string | undefined][] = [
      [parcel([{ sku: limited, quantity: 900 }]), creator.token, 422, 'items.0.sku', 'insufficient_stock'],
      [parcel([{ sku: unpaid, quantity: 1 }]), creator.token, 422, 'items.0.sku', 'unknown_sku'],
      [parcel(undefined, 'US'), creator.token, 422, 'shipping_rate_id', 'other_country'],
      [parcel(undefined, 'GB', unpaidRate), creator.token, 404, undefined, undefined],
      [
        parcel([{ sku: unpaid, quantity: 1 }], 'GB', unpaidRate),
        withoutPayment.token,
        422,
        'billing',
        'payment_method_missing',
      ],
    ];
    for (const [body, token, status, field, reason] of rejections) {
      const estimated = await estimate(body, token);
      const order = { ...orderBody(sku, rate), ...body };
      const { items, shipping_address: destination } = Object(body);
      order.shipping_address = { ...orderBody(sku, rate).shipping_address, ...destination };
      order.items = items.map((item: object) => ({ ...item, unit_price: gbp(2999) }));
      if (destination.country_code === 'US') Object.assign(order.shipping_address, { province_code: 'NY' });
      const placed = await store.post('/store/v1/orders', token, order);
      expect([estimated.status, estimated.body.details?.[0]]).toEqual([
        status,
        field === undefined ? undefined : { field, reason },
      ]);
      expect([placed.status, placed.body]).toEqual([estimated.status, estimated.body]);
    }
  });

  it('requires the scope orders:create and a creator', async () => {
    const scoped = (scope: string) => store.tokens.token({ creator_id: creator.id, client_id: 'c', scope });
    expect((await estimate(parcel(), await scoped('orders:read shipping:read'))).status).toBe(403);
    expect((await estimate(parcel(), await scoped('orders:create'))).status).toBe(200);
    const noCreator = await store.tokens.token({ client_id: 'c', scope: 'orders:create' });
    expect((await estimate(parcel(), noCreator)).status).toBe(404);
  });
});

function gbp(amount: number) {
  return { amount, currency: 'GBP' };
}
