import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import {
  orderBody,
  quoteSigningKey,
  shipping,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../test/store-api.fixture.js';
import { loadShipping, shippingFile } from './load-shipping.js';
import { SealedQuotes } from './sealed-quotes.js';

const setWeight = statement('test.set-weight', 'UPDATE products SET weight_grams = $2 WHERE id = $1');

describe('POST /v1/shipping-rates', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let sku: string;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
  });
  afterAll(() => store.stop());

  const quote = (body: object, query = '', token = creator.token) =>
    store.post(`/store/v1/shipping-rates${query}`, token, body);

  it('returns 200 with the services to the country, cheapest first', async () => {
    const { status, body } = await quote(
      { country_code: 'gb', items: [{ sku, quantity: 2 }] },
      '?currency=JPY',
    );
    expect(status).toBe(200);
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^rate_/),
        name: 'Economy',
        carriers: ['Evri'],
        description: null,
        price: { amount: 400, currency: 'JPY' },
        delivery_days: null,
      },
      {
        id: expect.stringMatching(/^rate_/),
        name: 'Tracked',
        carriers: ['Royal Mail'],
        description: 'Two days',
        price: { amount: 550, currency: 'JPY' },
        delivery_days: { min: 1, max: 2 },
      },
    ]);
  });

  it('returns the delivery times of the zone, which a new file replaces', async () => {
    const daysTo = async (country: string) =>
      (await quote({ country_code: country })).body.data.map(
        ({ name, delivery_days }: { name: string; delivery_days: unknown }) => [name, delivery_days],
      );
    const [tracked, economy] = shipping.services;
    if (tracked === undefined || economy === undefined) throw new Error('There are two services.');
    const world = { world: { min: 0, max: 365 } };
    await loadShipping(store.database, {
      ...shipping,
      services: [
        { ...tracked, delivery_days: {} },
        { ...economy, delivery_days: world },
      ],
    });
    expect(await daysTo('GB')).toEqual([
      ['Economy', null],
      ['Tracked', null],
    ]);
    expect(await daysTo('DE')).toEqual([['Economy', { min: 0, max: 365 }]]);
    await loadShipping(store.database, shipping);
    expect(await daysTo('GB')).toEqual([
      ['Economy', null],
      ['Tracked', { min: 1, max: 2 }],
    ]);
  });

  it('uses the lightest band without items, and with an empty list', async () => {
    for (const items of [undefined, [], null]) {
      const { body } = await quote({ country_code: 'GB', items });
      expect(body.data.map(({ price }: { price: { amount: number } }) => price.amount)).toEqual([250, 350]);
    }
  });

  it('returns rates for parcels of up to 100 t, and 422 for heavier ones', async () => {
    const { sku: heavy } = await store.release(creator.id);
    const quotePieces = (quantity: number) =>
      quote({ country_code: 'GB', items: [{ sku: heavy, quantity }] });
    await store.database.run(setWeight, [parsePublicId('prod', heavy), 200_000]);
    expect((await quotePieces(500)).status).toBe(200);
    const { status, body } = await quotePieces(501);
    expect([status, body.details]).toEqual([422, [{ field: 'items', reason: 'too_heavy' }]]);
  });

  it('quotes a parcel of 100 t at the highest prices of a shipping file', async () => {
    const { sku: heavy } = await store.release(creator.id);
    await store.database.run(setWeight, [parsePublicId('prod', heavy), 100_000]);
    const [service] = shipping.services;
    if (service === undefined) throw new Error('There are two services.');
    const maxPrice = 1_000_000_000;
    const fileWith = (price: number) => {
      const bands = [{ max_weight_grams: 500, amount: price, extra_500g_amount: price }];
      const rate_cards = [{ zone: 'highest', currency: 'GBP' as const, bands }];
      return { zones: { highest: ['GB'] }, services: [{ ...service, rate_cards }] };
    };
    expect(shippingFile.safeParse(fileWith(maxPrice + 1)).error?.issues).toHaveLength(2);
    await loadShipping(store.database, shippingFile.parse(fileWith(maxPrice)));
    try {
      const { body } = await quote({ country_code: 'GB', items: [{ sku: heavy, quantity: 1000 }] });
      expect(body.data[0].price.amount).toBe(200_000 * maxPrice); // one band and 199,999 steps
    } finally {
      await loadShipping(store.database, shipping);
    }
  });

  it('uses only shipping files in which each country is listed once', () => {
    const zones = { uk: ['GB', 'IE'], eu: ['FR', 'IE'], world: ['JP', 'JP'] };
    const messages = shippingFile
      .safeParse({ zones, services: [] })
      .error?.issues.map(({ message }) => message);
    expect(messages).toEqual([
      'IE may be listed once, but is in uk and eu',
      'JP may be listed once, but is in world and world',
    ]);
  });

  it('uses no shipping file in which a service has two prices for one weight', async () => {
    const [service] = shipping.services;
    if (service === undefined) throw new Error('There are two services.');
    const rate_cards = [...service.rate_cards, ...service.rate_cards.slice(0, 1)];
    const file = { ...shipping, services: [{ ...service, rate_cards }] };
    await expect(loadShipping(store.database, file)).rejects.toThrow(
      'The service Tracked has two bands of the same zone, currency and weight.',
    );
  });

  it('returns no rates for a country without a service, and 422 for items to it', async () => {
    expect((await quote({ country_code: 'FR' })).body).toEqual({ data: [] });
    const response = await quote({ country_code: 'FR', items: [{ sku, quantity: 1 }] });
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field: 'items.0.sku', reason: 'not_shippable_to_country' }],
    ]);
  });

  it('quotes a rate that is priced again when the order has another weight', async () => {
    const light = await store.quote(creator.token, 'GB', 'GBP');
    const { body } = await store.post('/store/v1/orders', creator.token, orderBody(sku, light, 5));
    const order = await store.readOrder(creator, body.id);
    expect(order.shipping.amount.amount).toBe(400 + 2 * 200); // 2600 g: the band up to 2000 g and two steps
  });

  it('quotes a rate that an order can use for 24 hours, and not later', async () => {
    const quotes = new SealedQuotes([quoteSigningKey]);
    const dayMs = 24 * 3_600_000;
    const now = Date.now();
    const sealed = quotes.open(creator.id, await store.quote(creator.token));
    if (sealed === undefined) throw new Error('The rate is not a sealed quote.');
    expect(sealed.expiresAt.getTime()).toBeGreaterThanOrEqual(now + dayMs - 1000); // in whole seconds
    expect(sealed.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + dayMs);

    const expired = quotes.seal(creator.id, { ...sealed, expiresAt: new Date(now) });
    const response = await store.post('/store/v1/orders', creator.token, orderBody(sku, expired));
    expect([response.status, response.body.details]).toEqual([
      422,
      [{ field: 'shipping_rate_id', reason: 'expired' }],
    ]);
  });

  // reference.spec.ts tests the bounds of each member.
  it.each([
    [{ country_code: 'ıt' }, 400, 'country_code'], // the upper case of the dotless i is I
    [{ country_code: 'GB', items: [{ sku: 'prod_x', quantity: 1 }] }, 422, 'items.0.sku'],
  ])('rejects %j', async (body, status, field) => {
    const response = await quote(body);
    expect([response.status, response.body.details[0].field]).toEqual([status, field]);
  });

  it('rejects an unsupported currency', async () => {
    const response = await quote({ country_code: 'GB' }, '?currency=CHF');
    expect([response.status, response.body.details[0].field]).toEqual([400, 'currency']);
  });
});

describe('GET /v1/shipping-services', () => {
  it('lists the services by position', async () => {
    const store = await startStoreApi();
    try {
      const creator = await store.creator();
      const { body } = await store.get('/store/v1/shipping-services', creator.token);
      expect(body.data).toEqual([
        {
          id: expect.stringMatching(/^svc_/),
          name: 'Tracked',
          description: 'Two days',
          regions: ['United Kingdom'],
        },
        { id: expect.stringMatching(/^svc_/), name: 'Economy', description: null, regions: [] },
      ]);
    } finally {
      await store.stop();
    }
  });
});

describe("the operator's file of shipping services", () => {
  it.each([
    { min: -1, max: 2 },
    { min: 3, max: 2 },
    { min: 1, max: 366 },
    { min: 1.5, max: 2 },
  ])('may not contain the delivery time %j', (uk) => {
    const services = shipping.services.map((service) => ({ ...service, delivery_days: { uk } }));
    expect(shippingFile.safeParse({ ...shipping, services }).success).toBe(false);
  });

  it('is rejected with an unsupported currency, and the error names its member', () => {
    const bands = [{ max_weight_grams: 500, amount: 1, extra_500g_amount: 1 }];
    const cards = [{ zone: 'uk', currency: 'CHF', bands }];
    const services = shipping.services.map((service) => ({ ...service, rate_cards: cards }));
    const { error } = shippingFile.safeParse({ ...shipping, services });
    expect(error?.issues[0]?.path).toEqual(['services', 0, 'rate_cards', 0, 'currency']);
  });
});
