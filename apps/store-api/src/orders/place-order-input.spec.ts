import { maxAmount } from '@fulfilment/contracts';
import {
  address,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type TestCreator,
} from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';

describe('POST /v1/orders refuses', () => {
  let store: StoreApiUnderTest;
  let desk: OrderDesk;
  let creator: TestCreator;
  let sku: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    desk = orderDesk(store);
    creator = await store.creator();
    [sku = ''] = (await store.release(creator.id)).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const good = () => orderBody(sku, rate);
  const cases: [string, () => object, number, string][] = [
    ['no body', () => ({}), 400, 'items'],
    ['a list in the list', () => ({ ...good(), items: [[]] }), 400, 'items'],
    ['null in the list', () => ({ ...good(), items: [null] }), 400, 'items'],
    [
      'a list for the price',
      () => ({ ...good(), items: [{ ...good().items[0], unit_price: [] }] }),
      400,
      'items.0.unit_price',
    ],
    ['no items', () => ({ ...good(), items: [] }), 400, 'items'],
    [
      '101 lines',
      () => ({ ...good(), items: Array.from({ length: 101 }, () => good().items[0]) }),
      400,
      'items',
    ],
    [
      'quantity 0',
      () => ({ ...good(), items: [{ ...good().items[0], quantity: 0 }] }),
      400,
      'items.0.quantity',
    ],
    [
      'quantity 1001',
      () => ({ ...good(), items: [{ ...good().items[0], quantity: 1001 }] }),
      400,
      'items.0.quantity',
    ],
    [
      'quantity as text',
      () => ({ ...good(), items: [{ ...good().items[0], quantity: '1' }] }),
      400,
      'items.0.quantity',
    ],
    [
      'quantity with a fraction',
      () => ({ ...good(), items: [{ ...good().items[0], quantity: 1.5 }] }),
      400,
      'items.0.quantity',
    ],
    [
      'a price above the largest',
      () => ({
        ...good(),
        items: [{ ...good().items[0], unit_price: { amount: maxAmount + 1, currency: 'GBP' } }],
      }),
      400,
      'items.0.unit_price.amount',
    ],
    ['no price', () => ({ ...good(), items: [{ sku, quantity: 1 }] }), 400, 'items.0.unit_price'],
    [
      'an unknown currency',
      () => ({ ...good(), items: [{ ...good().items[0], unit_price: { amount: 1, currency: 'CHF' } }] }),
      400,
      'items.0.unit_price.currency',
    ],
    ['no address', () => ({ ...good(), shipping_address: undefined }), 400, 'shipping_address'],
    [
      'an empty name',
      () => ({ ...good(), shipping_address: { ...address, full_name: '  ' } }),
      400,
      'shipping_address.full_name',
    ],
    [
      'a control character',
      () => ({ ...good(), shipping_address: { ...address, address_line_1: 'a\u0000b' } }),
      400,
      'shipping_address.address_line_1',
    ],
    [
      'no city in GB',
      () => ({ ...good(), shipping_address: { ...address, city: undefined } }),
      400,
      'shipping_address.city',
    ],
    [
      'no country of ISO 3166',
      () => ({ ...good(), shipping_address: { ...address, country_code: 'XX' } }),
      400,
      'shipping_address.country_code',
    ],
    ['an empty source member', () => ({ ...good(), source: { platform: '' } }), 400, 'source.platform'],
    [
      'another currency',
      () => ({ ...good(), items: [{ ...good().items[0], unit_price: { amount: 1, currency: 'USD' } }] }),
      422,
      'items.0.unit_price.currency',
    ],
    ['an unknown sku', () => orderBody('prod_00000000000000000000000001', rate), 422, 'items.0.sku'],
    [
      'a rate for another country',
      () => ({ ...good(), shipping_address: { ...address, country_code: 'DE' } }),
      422,
      'shipping_rate_id',
    ],
    [
      'a total above the largest',
      () => ({
        ...good(),
        items: [{ sku, quantity: 1000, unit_price: { amount: maxAmount, currency: 'GBP' } }],
      }),
      422,
      'items',
    ],
  ];
  it.each(cases)('%s', async (_, body, status, field) => {
    const refused = await desk.place(creator, body());
    expect([refused.status, refused.body.details?.[0].field]).toEqual([status, field]);
  });

  it('answers 404 for a rate of nobody or of another creator', async () => {
    const other = await store.creator();
    for (const foreign of ['rate_00000000000000000000000000', 'nonsense', await store.quote(other.token)]) {
      expect((await desk.place(creator, orderBody(sku, foreign))).status).toBe(404);
    }
  });

  it('tells another creator nothing of a sku', async () => {
    const other = await store.creator();
    const refused = await desk.place(other, orderBody(sku, await store.quote(other.token)));
    expect(refused.body.details).toEqual([{ field: 'items.0.sku', reason: 'unknown_sku' }]);
  });
});
