import { type Message, messages } from '@fulfilment/contracts';
import { messageOutcomes } from '@fulfilment/messaging';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { permutations } from '../orders/permutations.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

describe('what the plant reports of a product', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
  });
  afterAll(() => store.stop());

  const report = async (message: Message) => {
    await store.broker.publish(message);
    return eventually(() => messageOutcomes(store.database)(`/messages/${message.id}`));
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

  it('ends with the count that was made last, whatever came first, and twice', async () => {
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

  it('keeps what was sold since the last count when an older one comes late', async () => {
    const { id, skus } = await store.release(creator.id, [{ quantity: 1 }]);
    const [sku = ''] = skus;
    await report(count(sku, 10, 2));
    await store.post('/store/v1/orders', creator.token, orderBody(sku, await store.quote(creator.token)));
    await report(count(sku, 12, 1));
    expect((await product(id)).availability.quantity).toBe(9);
  });

  it('ends with the status that was reported last, whatever came first', async () => {
    for (const order of permutations([0, 1, 2])) {
      const { id, skus } = await store.release(creator.id);
      const [sku = ''] = skus;
      const story = [withdraw(sku, 1), release(sku, 2), withdraw(sku, 3)];
      for (const index of order) await report(story[index] ?? release(sku, 0));
      expect({ order, status: (await product(id)).status }).toEqual({ order, status: 'unavailable' });
    }
  });

  it('opens what was approved after it was withdrawn', async () => {
    const { id, skus } = await store.release(creator.id, [{ status: 'pending' }]);
    await report(messages.catalogueReleaseApproved.make({ release_id: id }, at(2)));
    await report(withdraw(skus[0] ?? '', 1));
    expect((await product(id)).status).toBe('available');
  });

  it('is not held up by a report from a clock that is ahead', async () => {
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
