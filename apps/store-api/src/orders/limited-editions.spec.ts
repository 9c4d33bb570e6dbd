import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';

describe('orders of limited editions', () => {
  let store: StoreApiUnderTest;
  let desk: OrderDesk;

  beforeAll(async () => {
    store = await startStoreApi({ RATE_LIMIT_ORDERS_CREATE: '100000/60' });
    desk = orderDesk(store);
  });
  afterAll(() => store.stop());

  const seller = async (
    ...quantities: number[]
  ): Promise<{ who: TestCreator; skus: string[]; rate: string }> => {
    const who = await store.creator();
    const { skus } = await store.release(
      who.id,
      quantities.map((quantity) => ({ quantity })),
    );
    return { who, skus, rate: await store.quote(who.token) };
  };

  it('sells the last unit to exactly one of 100 buyers at once, and charges nobody else', async () => {
    const { who, skus, rate } = await seller(1);
    const [last = ''] = skus;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => desk.place(who, orderBody(last, rate))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(99);
    for (const { body } of refused) {
      expect(body).toMatchObject({
        statusCode: 422,
        details: [{ field: 'items.0.sku', reason: 'insufficient_stock' }],
      });
    }
    expect([await desk.orders(who), await desk.stock(who)]).toEqual([1, [0]]);
    expect(await desk.ledger(who)).toHaveLength(1);
    expect(await desk.events(who, 'product.')).toEqual(['product.inventory_changed', 'product.out_of_stock']);
  });

  it('takes the sum when one sku stands on two lines', async () => {
    const { who, skus, rate } = await seller(3);
    const body = orderBody(skus[0] ?? '', rate, 2);
    const refused = await desk.place(who, { ...body, items: [...body.items, ...body.items] });
    expect(refused.body.details).toEqual([
      { field: 'items.0.sku', reason: 'insufficient_stock' },
      { field: 'items.1.sku', reason: 'insufficient_stock' },
    ]);
    expect(await desk.stock(who)).toEqual([3]);
  });

  it('counts exactly through 500 times two baskets at once in opposite order, 32 at any moment', async () => {
    const { who, skus, rate } = await seller(700, 2000);
    const [a = '', b = ''] = skus;
    const basket = (...chosen: string[]) => ({
      ...orderBody(a, rate),
      items: chosen.flatMap((sku) => orderBody(sku, rate).items),
    });
    const statuses: number[] = [];
    let pairs = 500;
    const buyer = async (): Promise<void> => {
      for (; pairs > 0;) {
        pairs -= 1;
        const answers = await Promise.all([desk.place(who, basket(a, b)), desk.place(who, basket(b, a))]);
        statuses.push(...answers.map(({ status }) => status));
      }
    };
    await Promise.all(Array.from({ length: 16 }, buyer));
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(201), count(422), statuses.length]).toEqual([700, 300, 1000]);
    expect(await desk.stock(who)).toEqual([0, 1300]);
    expect(await desk.ledger(who)).toHaveLength(700);
  }, 60_000);
});
