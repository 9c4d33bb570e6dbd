import { currencies, type Currency, maxAmount } from '@fulfilment/contracts';
import { cataloguePrices } from '../../catalogue/catalogue-file.fixture.js';
import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  shippingPrice,
} from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';

describe('the amounts of an order', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let creator: Creator;
  let sku: string;

  beforeAll(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
  });
  afterAll(() => store.stop());
  beforeEach(async () => {
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
  });

  const body = async (currency: Currency, unitAmount: number, quantity = 1) => ({
    ...orderBody(sku, await store.quote(creator.token, 'GB', currency)),
    items: [{ sku, quantity, unit_price: { amount: unitAmount, currency } }],
  });

  it.each(currencies)('are in one currency, as in the request: %s', async (currency) => {
    const placed = await helpers.place(creator, await body(currency, 3100));
    const order = await store.readOrder(creator, placed.body.id);
    const charged = cataloguePrices[currency] + shippingPrice;
    expect(order).toMatchObject({
      total: { amount: 3100 + shippingPrice, currency },
      line_items: [{ unit_price: { amount: 3100, currency } }],
      billing: { amount: { amount: charged, currency } },
      shipping: { amount: { amount: shippingPrice, currency } },
    });
    expect(await helpers.providerCharges(creator)).toEqual([
      { amount: charged, currency, outcome: 'succeeded', refunded: false },
    ]);
  });

  it('are exact up to the largest amount, in responses and messages', async () => {
    const placed = await helpers.place(creator, await body('JPY', maxAmount - shippingPrice));
    expect(placed.status).toBe(201);
    const read = await store.get(`/store/v1/orders/${placed.body.id}`, creator.token);
    expect(read.text).toContain(`"total":{"amount":${maxAmount},"currency":"JPY"}`);
    await helpers.waitUntilPublished();
    const [created] = store.published('order.created').slice(-1);
    expect(created?.data).toMatchObject({ order: { total_amount: maxAmount, currency: 'JPY' } });
  });

  it.each([
    ['a line', maxAmount, 2],
    ['a line with shipping', maxAmount - shippingPrice + 1, 1],
  ])('are rejected when %s is above the largest amount', async (_, unitAmount, quantity) => {
    const response = await helpers.place(creator, await body('GBP', unitAmount, quantity));
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field: 'items', reason: 'total_too_large' }],
    ]);
    expect(await helpers.providerCharges(creator)).toEqual([]);
  });

  it('are rejected in two currencies', async () => {
    const mixed = await body('GBP', 100);
    const yen = { sku, quantity: 1, unit_price: { amount: 100, currency: 'JPY' } };
    const response = await helpers.place(creator, { ...mixed, items: [...mixed.items, yen] });
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field: 'items.1.unit_price.currency', reason: 'must be GBP, the currency of the shipping rate' }],
    ]);
    expect(await helpers.orderCount(creator)).toBe(0);
  });
});
