import { maxAmount } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import {
  address,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from './order-helpers.fixture.js';

const deleteWorldRates = statement('test.delete-world-rates', "DELETE FROM rate_cards WHERE zone = 'world'");

describe('POST /v1/orders', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let creator: Creator;
  let sku: string;
  let soldOut: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
    creator = await store.creator();
    [sku = '', soldOut = ''] = (await store.release(creator.id, [{}, { quantity: 0 }])).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const valid = () => orderBody(sku, rate);
  const withItem = (changes: object) => ({ ...valid(), items: [{ ...valid().items[0], ...changes }] });
  const withAddress = (changes: object) => ({ ...valid(), shipping_address: { ...address, ...changes } });
  /**
   * Title, body, status and field of the error; reference.spec.ts tests the bounds of each member. The bodies
   * are functions, since `beforeAll` sets the rate later.
   */
  const cases: [string, () => object, number, string][] = [
    ['no members', () => ({}), 400, 'items'],
    ['null as an item', () => ({ ...valid(), items: [null] }), 400, 'items.0'],
    ['a quantity of 0', () => withItem({ quantity: 0 }), 400, 'items.0.quantity'],
    [
      'an unknown currency',
      () => withItem({ unit_price: { amount: 1, currency: 'CHF' } }),
      400,
      'items.0.unit_price.currency',
    ],
    ['a name of white space', () => withAddress({ full_name: '  ' }), 400, 'shipping_address.full_name'],
    [
      'a control character in the address',
      () => withAddress({ address_line_1: 'a\u0000b' }),
      400,
      'shipping_address.address_line_1',
    ],
    [
      'a price above the largest',
      () => withItem({ unit_price: { amount: maxAmount + 1, currency: 'GBP' } }),
      400,
      'items.0.unit_price.amount',
    ],
    ['no city in GB', () => withAddress({ city: undefined }), 400, 'shipping_address.city'],
    ['a city of a zero-width space', () => withAddress({ city: '\u200b' }), 400, 'shipping_address.city'],
    [
      'no province in the USA',
      () => withAddress({ country_code: 'us' }),
      400,
      'shipping_address.province_code',
    ],
    ['no postal code in GB', () => withAddress({ postal_code: ' ' }), 400, 'shipping_address.postal_code'],
    [
      'a country code that ISO 3166 does not assign',
      () => withAddress({ country_code: 'XX' }),
      400,
      'shipping_address.country_code',
    ],
    [
      'a country code that ISO 3166 leaves to its users',
      () => withAddress({ country_code: 'XK' }),
      400,
      'shipping_address.country_code',
    ],
    ['an unknown sku', () => orderBody('prod_00000000000000000000000001', rate), 422, 'items.0.sku'],
    ['a rate for another country', () => withAddress({ country_code: 'DE' }), 422, 'shipping_rate_id'],
  ];
  it.each(cases)('rejects an order with %s', async (_, body, status, field) => {
    const response = await helpers.place(creator, body());
    expect([response.status, response.body.details?.[0].field]).toEqual([status, field]);
  });

  it('accepts address lines and a postal code of maximum length, in any script', async () => {
    const long = {
      ...address,
      address_line_2: '夜'.repeat(100),
      city: '🌊'.repeat(100),
      postal_code: '1'.repeat(20),
    };
    expect((await helpers.place(creator, { ...valid(), shipping_address: long })).status).toBe(201);
  });

  it('names every line that cannot be sold, each with its own reason', async () => {
    const { skus } = await store.release(creator.id, [{ status: 'pending' }, { status: 'unavailable' }]);
    const lines = ['prod_unknown', sku, soldOut, ...skus].flatMap((item) => orderBody(item, rate).items);
    const response = await helpers.place(creator, { ...valid(), items: lines });
    expect([response.status, response.body.details]).toEqual([
      422,
      [
        { field: 'items.0.sku', reason: 'unknown_sku' },
        { field: 'items.2.sku', reason: 'insufficient_stock' },
        { field: 'items.3.sku', reason: 'not_available' },
        { field: 'items.4.sku', reason: 'not_available' },
      ],
    ]);
  });

  it('names the lines when the quoted service no longer ships to the country', async () => {
    const quoted = await store.quote(creator.token, 'US');
    await store.database.run(deleteWorldRates); // no later test ships outside GB
    const usa = { ...address, country_code: 'US', province_code: 'NY' };
    const response = await helpers.place(creator, { ...orderBody(sku, quoted), shipping_address: usa });
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field: 'items.0.sku', reason: 'not_shippable_to_country' }],
    ]);
  });

  it('returns 404 for a token without a connected creator, as do the other operations of a creator', async () => {
    const token = await store.tokens.token({
      client_id: 'c',
      scope: 'orders:create shipping:read creator:read',
    });
    expect((await store.post('/store/v1/orders', token, valid())).status).toBe(404);
    expect((await store.post('/store/v1/shipping-rates', token, { country_code: 'GB' })).status).toBe(404);
    expect((await store.get('/store/v1/creator', token)).status).toBe(404);
  });

  it('returns 404 for an unknown rate and for a rate of another creator', async () => {
    const otherCreator = await store.creator();
    for (const unusable of [
      'rate_00000000000000000000000000',
      'nonsense',
      await store.quote(otherCreator.token),
    ]) {
      expect((await helpers.place(creator, orderBody(sku, unusable))).status).toBe(404);
    }
  });

  it('does not reveal a sku to another creator', async () => {
    const otherCreator = await store.creator();
    const response = await helpers.place(otherCreator, orderBody(sku, await store.quote(otherCreator.token)));
    expect(response.body.details).toEqual([{ field: 'items.0.sku', reason: 'unknown_sku' }]);
  });
});
