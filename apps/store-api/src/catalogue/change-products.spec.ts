import { type Message, messages, parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { permutations } from '../fulfilment/permutations.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

const limit = statement(
  'test.limit',
  'UPDATE products SET limited_edition = true, quantity = $2 WHERE id = (SELECT id FROM products WHERE id = $1 FOR UPDATE)',
);
const waiting = statement(
  'test.waiting',
  `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

/** A stock count that makes a product a limited edition, in an open transaction. */
async function beginToLimit({ database }: StoreApiUnderTest, sku: string, quantity: number) {
  const limiting = await database.begin();
  await limiting.tx.run(limit, [parsePublicId('prod', sku), quantity]);
  return {
    commit: () => limiting.commit(),
    untilWaitedFor: (orders: number) =>
      eventually(async () => ((await database.row<{ count: number }>(waiting))?.count ?? 0) >= orders),
  };
}

describe('events of the plant and the warehouse about a product', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
  });
  afterAll(() => store.stop());

  const report = async (message: Message) => {
    await store.broker.publish(message);
    return store.outcomeOf(message);
  };
  const at = (minute: number) => ({ occurredAt: new Date(Date.UTC(2026, 0, 1, 9, minute)) });
  const count = (sku: string, quantity: number, minute: number) =>
    messages.fulfilmentStockSet.make({ sku, quantity }, at(minute));
  const release = (sku: string, minute: number) =>
    messages.fulfilmentProductReleased.make({ sku }, at(minute));
  const withdraw = (sku: string, minute: number) =>
    messages.fulfilmentProductWithdrawn.make({ sku }, at(minute));
  const product = async (id: string) =>
    (await store.get(`/store/v1/releases/${id}`, creator.token)).body.products[0];

  it('result in the latest stock count, in any order of arrival and with repetitions', async () => {
    for (const order of permutations([0, 1, 2])) {
      const { id, skus } = await store.release(creator.id, [{ quantity: 10 }]);
      const story = [count(skus[0] ?? '', 100, 1), count(skus[0] ?? '', 7, 2), count(skus[0] ?? '', 3, 3)];
      for (const index of [...order, ...order]) {
        const message = story[index];
        if (message !== undefined)
          expect(await report({ ...message, id: randomUUID() })).toMatchObject({ outcome: 'applied' });
      }
      expect({ order, availability: (await product(id)).availability }).toEqual({
        order,
        availability: { limited_edition: true, quantity: 3 },
      });
    }
  });

  it('keep the sales since the last count when an older count arrives late', async () => {
    const { id, skus } = await store.release(creator.id, [{ quantity: 1 }]);
    const [sku = ''] = skus;
    await report(count(sku, 10, 2));
    await store.post('/store/v1/orders', creator.token, orderBody(sku, await store.quote(creator.token)));
    await report(count(sku, 12, 1));
    expect((await product(id)).availability.quantity).toBe(9);
  });

  it('subtract later sales from a count that arrives late', async () => {
    const { id, skus } = await store.release(creator.id, [{ quantity: 10 }]);
    const [sku = ''] = skus;
    const counted = messages.fulfilmentStockSet.make({ sku, quantity: 10 }, { occurredAt: new Date() });
    const rate = await store.quote(creator.token);
    for (let sold = 0; sold < 4; sold += 1)
      await store.post('/store/v1/orders', creator.token, orderBody(sku, rate));
    await report(counted);
    expect((await product(id)).availability.quantity).toBe(6);
  });

  it('apply an adjustment once', async () => {
    const { id, skus } = await store.release(creator.id, [{ quantity: 10 }]);
    const adjusted = messages.fulfilmentStockAdjusted.make({ sku: skus[0] ?? '', delta: -3 }, at(1));
    await report(adjusted);
    await store.broker.publish(adjusted);
    await report(messages.fulfilmentStockAdjusted.make({ sku: skus[0] ?? '', delta: 1 }, at(1)));
    expect((await product(id)).availability.quantity).toBe(8);
  });

  it('prevent overselling by an order that read the product before its first count', async () => {
    const { id, skus } = await store.release(creator.id, [{}, {}]);
    const [sku = '', other = ''] = skus;
    const rate = await store.quote(creator.token);
    const order = {
      ...orderBody(sku, rate, 2),
      items: [other, sku].flatMap((one) => orderBody(one, rate, 2).items),
    };
    const limiting = await beginToLimit(store, sku, 3);
    const [placed, placedToo] = [1, 2].map(() =>
      store.post('/store/v1/orders', creator.token, order).then(({ status }) => status),
    );
    await limiting.untilWaitedFor(2);
    await limiting.commit();
    expect([await placed, await placedToo].toSorted()).toEqual([201, 422]);
    expect((await product(id)).availability.quantity).toBe(1);
  });

  it('result in the status of the latest event, in any order of arrival', async () => {
    for (const order of permutations([0, 1, 2])) {
      const { id, skus } = await store.release(creator.id);
      const [sku = ''] = skus;
      const story = [withdraw(sku, 1), release(sku, 2), withdraw(sku, 3)];
      for (const index of order) await report(story[index] ?? release(sku, 0));
      expect({ order, status: (await product(id)).status }).toEqual({ order, status: 'unavailable' });
    }
  });

  it('make a product available that was approved after it was withdrawn', async () => {
    const { id, skus } = await store.release(creator.id, [{ status: 'pending' }]);
    await report(messages.catalogueReleaseApproved.make({ release_id: id }, at(2)));
    await report(withdraw(skus[0] ?? '', 1));
    expect((await product(id)).status).toBe('available');
  });

  it('are not blocked by an event from a clock that is ahead', async () => {
    const { id, skus } = await store.release(creator.id, [{ quantity: 10 }]);
    const [sku = ''] = skus;
    await report(
      messages.fulfilmentStockSet.make({ sku, quantity: 5 }, { occurredAt: new Date('2999-01-01') }),
    );
    await report(
      messages.fulfilmentStockSet.make({ sku, quantity: 4 }, { occurredAt: new Date(Date.now() + 1000) }),
    );
    expect((await product(id)).availability.quantity).toBe(4);
  });
});
