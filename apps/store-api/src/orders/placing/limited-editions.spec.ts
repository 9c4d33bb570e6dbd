import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';

describe('orders of limited editions', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;

  beforeAll(async () => {
    store = await startStoreApi({ RATE_LIMIT_ORDERS_CREATE: '100000/60' });
    helpers = orderHelpers(store);
  });
  afterAll(() => store.stop());

  const creatorWithStock = async (
    ...quantities: number[]
  ): Promise<{ creator: Creator; skus: string[]; rate: string }> => {
    const creator = await store.creator();
    const { skus } = await store.release(
      creator.id,
      quantities.map((quantity) => ({ quantity })),
    );
    return { creator, skus, rate: await store.quote(creator.token) };
  };

  it('sell the last piece to exactly one of 100 concurrent buyers, and charge no other', async () => {
    const { creator, skus, rate } = await creatorWithStock(1);
    const [last = ''] = skus;
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => helpers.place(creator, orderBody(last, rate))),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(rejected).toHaveLength(99);
    for (const { body } of rejected) {
      expect(body).toMatchObject({
        statusCode: 422,
        details: [{ field: 'items.0.sku', reason: 'insufficient_stock' }],
      });
    }
    expect([await helpers.orderCount(creator), await helpers.stock(creator)]).toEqual([1, [0]]);
    expect(await helpers.providerCharges(creator)).toHaveLength(1);
    expect(await helpers.events(creator, 'product.')).toEqual([
      'product.inventory_changed',
      'product.out_of_stock',
    ]);
  });

  it('are rejected when two lines with one sku exceed the stock together', async () => {
    const { creator, skus, rate } = await creatorWithStock(3);
    const body = orderBody(skus[0] ?? '', rate, 2);
    const rejected = await helpers.place(creator, { ...body, items: [...body.items, ...body.items] });
    expect(rejected.body.details).toEqual([
      { field: 'items.0.sku', reason: 'insufficient_stock' },
      { field: 'items.1.sku', reason: 'insufficient_stock' },
    ]);
    expect(await helpers.stock(creator)).toEqual([3]);
  });

  it('keep the stock exact during 500 pairs of orders with lines in opposite order, 32 orders at a time', async () => {
    const { creator, skus, rate } = await creatorWithStock(700, 2000);
    const [a = '', b = ''] = skus;
    const basket = (...chosen: string[]) => ({
      ...orderBody(a, rate),
      items: chosen.flatMap((sku) => orderBody(sku, rate).items),
    });
    const statuses: number[] = [];
    let pairs = 500;
    const placePairs = async (): Promise<void> => {
      while (pairs > 0) {
        pairs -= 1;
        const responses = await Promise.all([
          helpers.place(creator, basket(a, b)),
          helpers.place(creator, basket(b, a)),
        ]);
        statuses.push(...responses.map(({ status }) => status));
      }
    };
    await Promise.all(Array.from({ length: 16 }, placePairs));
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(201), count(422), statuses.length]).toEqual([700, 300, 1000]);
    expect(await helpers.stock(creator)).toEqual([0, 2000 - 700]);
    expect(await helpers.providerCharges(creator)).toHaveLength(700);
  }, 300_000); // milliseconds for 1000 orders
});
