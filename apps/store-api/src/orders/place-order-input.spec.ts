import { maxAmount } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import {
  address,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type TestCreator,
} from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';

const noWorld = statement('test.no-world', "DELETE FROM rate_cards WHERE zone = 'world'");

describe('POST /v1/orders', () => {
  let store: StoreApiUnderTest;
  let desk: OrderDesk;
  let creator: TestCreator;
  let sku: string;
  let soldOut: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    desk = orderDesk(store);
    creator = await store.creator();
    [sku = '', soldOut = ''] = (await store.release(creator.id, [{}, { quantity: 0 }])).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const good = () => orderBody(sku, rate);
  const cases: [string, () => object, number, string][] = [
    ['no body', () => ({}), 400, 'items'],
    ['a list in the list', () => ({ ...good(), items: [[]] }), 400, 'items.0'],
    ['null in the list', () => ({ ...good(), items: [null] }), 400, 'items.0'],
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
    [
      'no province in the USA',
      () => ({ ...good(), shipping_address: { ...address, country_code: 'us' } }),
      400,
      'shipping_address.province_code',
    ],
    [
      'no postal code in GB',
      () => ({ ...good(), shipping_address: { ...address, postal_code: ' ' } }),
      400,
      'shipping_address.postal_code',
    ],
    [
      'a postal code of 21 characters',
      () => ({ ...good(), shipping_address: { ...address, postal_code: '1'.repeat(21) } }),
      400,
      'shipping_address.postal_code',
    ],
    [
      'a line of 101 characters',
      () => ({ ...good(), shipping_address: { ...address, address_line_2: '夜'.repeat(101) } }),
      400,
      'shipping_address.address_line_2',
    ],
    [
      'a code that ISO 3166 leaves to its users',
      () => ({ ...good(), shipping_address: { ...address, country_code: 'XK' } }),
      400,
      'shipping_address.country_code',
    ],
    ['no rate', () => ({ ...good(), shipping_rate_id: undefined }), 400, 'shipping_rate_id'],
    ['a source that is a list', () => ({ ...good(), source: [] }), 400, 'source'],
    [
      'a source member of 256 characters',
      () => ({ ...good(), source: { external_order_id: 'x'.repeat(256) } }),
      400,
      'source.external_order_id',
    ],
    [
      'a price below nothing',
      () => ({ ...good(), items: [{ ...good().items[0], unit_price: { amount: -1, currency: 'GBP' } }] }),
      400,
      'items.0.unit_price.amount',
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
    const response = await desk.place(creator, body());
    expect([response.status, response.body.details?.[0].field]).toEqual([status, field]);
  });

  it('names every line that cannot be sold, whatever is wrong with the others', async () => {
    const items = ['prod_unknown', sku, soldOut].map((wanted) => ({ ...good().items[0], sku: wanted }));
    const response = await desk.place(creator, { ...good(), items });
    expect([response.status, response.body.details]).toEqual([
      422,
      [
        { field: 'items.0.sku', reason: 'unknown_sku' },
        { field: 'items.2.sku', reason: 'insufficient_stock' },
      ],
    ]);
  });

  it('accepts address lines and a postal code of maximum length, in any script', async () => {
    const long = {
      ...address,
      address_line_2: '夜'.repeat(100),
      city: '🌊'.repeat(100),
      postal_code: '1'.repeat(20),
    };
    expect((await desk.place(creator, { ...good(), shipping_address: long })).status).toBe(201);
  });

  it('names every line that cannot be sold, each with its own reason', async () => {
    const { skus } = await store.release(creator.id, [{ status: 'pending' }, { status: 'unavailable' }]);
    const lines = ['prod_nonsense', sku, ...skus].flatMap((one) => orderBody(one, rate).items);
    const response = await desk.place(creator, { ...good(), items: lines });
    expect([response.status, response.body.details]).toEqual([
      422,
      [
        { field: 'items.0.sku', reason: 'unknown_sku' },
        { field: 'items.2.sku', reason: 'not_available' },
        { field: 'items.3.sku', reason: 'not_available' },
      ],
    ]);
  });

  it('names the lines when the quoted service no longer goes to the country', async () => {
    const quoted = await store.quote(creator.token, 'US');
    await store.database.run(noWorld);
    const usa = { ...address, country_code: 'US', province_code: 'NY' };
    const response = await desk.place(creator, { ...orderBody(sku, quoted), shipping_address: usa });
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field: 'items.0.sku', reason: 'not_shippable_to_country' }],
    ]);
  });

  it('returns 404 for a token without a connected creator', async () => {
    const token = await store.tokens.token({
      client_id: 'c',
      scope: 'orders:create shipping:read creator:read',
    });
    expect((await store.post('/store/v1/orders', token, good())).status).toBe(404);
    expect((await store.post('/store/v1/shipping-rates', token, { country_code: 'GB' })).status).toBe(404);
    expect((await store.get('/store/v1/creator', token)).status).toBe(404);
  });

  it('returns 404 for an unknown rate and for one of another creator', async () => {
    const other = await store.creator();
    for (const foreign of ['rate_00000000000000000000000000', 'nonsense', await store.quote(other.token)]) {
      expect((await desk.place(creator, orderBody(sku, foreign))).status).toBe(404);
    }
  });

  it('does not reveal a sku to another creator', async () => {
    const other = await store.creator();
    const response = await desk.place(other, orderBody(sku, await store.quote(other.token)));
    expect(response.body.details).toEqual([{ field: 'items.0.sku', reason: 'unknown_sku' }]);
  });
});
