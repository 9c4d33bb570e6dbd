import { statement } from '@fulfilment/database';
import { cataloguePrices } from '../../catalogue/catalogue-file.fixture.js';
import {
  address,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  shippingPrice,
  unitPrice,
} from '../../test/store-api.fixture.js';
import { SealedQuotes } from '../../shipping/sealed-quotes.js';
import { ReadPricing } from './read-pricing.js';

const countRows = statement(
  'test.count-rows',
  `SELECT (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM charges) AS charges, (SELECT count(*) FROM stock_movements) AS movements,
          (SELECT count(*) FROM idempotency_keys) AS keys, (SELECT sum(quantity) FROM products) AS stock`,
);

describe('POST /v1/orders/estimate', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let sku: string;
  let limited: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    const { skus } = await store.release(creator.id, [{}, { quantity: 3, product_type: 'vinyl_7_single' }]);
    [sku = '', limited = ''] = skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const estimate = async (body: object, token = creator.token) =>
    store.post('/store/v1/orders/estimate', token, body);
  /** The body of a request; by default, two pieces of `sku` to GB with `rate`. */
  const bodyWith = ({
    items = [{ sku, quantity: 2 }],
    country = 'GB',
    shippingRate = rate,
  }: { items?: object[]; country?: string; shippingRate?: string } = {}) => ({
    items,
    shipping_address: { country_code: country },
    shipping_rate_id: shippingRate,
  });
  /** The order that an estimate is about. Its address has a province, which an order to the USA requires. */
  const orderOf = (body: ReturnType<typeof bodyWith>) => ({
    ...body,
    items: body.items.map((item) => ({ ...item, unit_price: gbp(unitPrice) })),
    shipping_address: { ...address, province_code: 'NY', ...body.shipping_address },
  });

  it('returns the cost of each line and of the order', async () => {
    const { status, body } = await estimate(
      bodyWith({
        items: [
          { sku, quantity: 2 },
          { sku: limited, quantity: 1 },
        ],
      }),
    );
    expect(status).toBe(200);
    const price = cataloguePrices.GBP;
    expect(body).toEqual({
      line_items: [
        { sku, title: 'Tidal Maps 1', quantity: 2, unit_cost: gbp(price), cost: gbp(2 * price) },
        { sku: limited, title: 'Tidal Maps 2', quantity: 1, unit_cost: gbp(price), cost: gbp(price) },
      ],
      shipping: { rate_id: rate, amount: gbp(shippingPrice) },
      cost: gbp(3 * price + shippingPrice),
      lead_time_days: 10,
    });
  });

  it('accepts the body of an order, and returns what the order then costs', async () => {
    const order = { ...orderBody(limited, rate, 2), metadata: { cart: 'c_1' } };
    const { body } = await estimate(order);
    const placed = await store.post('/store/v1/orders', creator.token, order);
    expect(placed.status).toBe(201);
    const view = await store.readOrder(creator, placed.body.id);
    expect([body.cost, body.shipping]).toEqual([view.billing.amount, view.shipping]);
  });

  it('reads pricing data without `index`, the number of the request in a shared statement', async () => {
    const quote = store.app.get(SealedQuotes).open(creator.id, rate);
    if (quote === undefined) throw new Error('The shipping rate could not be opened.');
    const data = await store.app.get(ReadPricing).run(creator.id, [sku], quote);
    expect(Object.keys(data).toSorted()).toEqual(['bands', 'billing', 'products', 'readAt']);
  });

  it('writes nothing', async () => {
    const before = await store.database.row(countRows);
    expect((await estimate(bodyWith())).status).toBe(200);
    expect((await estimate(bodyWith({ items: [{ sku: limited, quantity: 1 }] }))).status).toBe(200);
    expect(await store.database.row(countRows)).toEqual(before);
  });

  it('returns the error of the order for too few pieces, an unknown sku or rate, another country, or no payment method', async () => {
    const withoutPayment = await store.creator(null);
    const { sku: unpaid } = await store.release(withoutPayment.id);
    const unpaidRate = await store.quote(withoutPayment.token);
    const rejections = [
      {
        body: bodyWith({ items: [{ sku: limited, quantity: 900 }] }),
        status: 422,
        detail: { field: 'items.0.sku', reason: 'insufficient_stock' },
      },
      {
        body: bodyWith({ items: [{ sku: unpaid, quantity: 1 }] }),
        status: 422,
        detail: { field: 'items.0.sku', reason: 'unknown_sku' },
      },
      {
        body: bodyWith({ country: 'US' }),
        status: 422,
        detail: { field: 'shipping_rate_id', reason: 'other_country' },
      },
      { body: bodyWith({ shippingRate: unpaidRate }), status: 404, detail: undefined },
      {
        body: bodyWith({ items: [{ sku: unpaid, quantity: 1 }], shippingRate: unpaidRate }),
        token: withoutPayment.token,
        status: 422,
        detail: { field: 'billing', reason: 'payment_method_missing' },
      },
    ];
    for (const { body, token = creator.token, status, detail } of rejections) {
      const estimated = await estimate(body, token);
      expect([estimated.status, estimated.body.details?.[0]]).toEqual([status, detail]);
      const placed = await store.post('/store/v1/orders', token, orderOf(body));
      expect([placed.status, placed.body]).toEqual([estimated.status, estimated.body]);
    }
  });

  it('counts against the quota of quotes', async () => {
    expect((await estimate(bodyWith())).get('ratelimit-policy')).toMatch(/^"quotes";/);
  });

  it('requires the scope orders:create and a creator', async () => {
    const scoped = (scope: string) => store.tokens.token({ creator_id: creator.id, client_id: 'c', scope });
    expect((await estimate(bodyWith(), await scoped('orders:read shipping:read'))).status).toBe(403);
    expect((await estimate(bodyWith(), await scoped('orders:create'))).status).toBe(200);
    const noCreator = await store.tokens.token({ client_id: 'c', scope: 'orders:create' });
    expect((await estimate(bodyWith(), noCreator)).status).toBe(404);
  });
});

function gbp(amount: number) {
  return { amount, currency: 'GBP' };
}
