import { type Message, messages, parsePublicId, uuidv7 } from '@fulfilment/contracts';
import { untilLockWaits } from '@fulfilment/database/testing';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { FulfilmentConsumer } from '../fulfilment/fulfilment.consumer.js';
import { atMinute, permutations } from '../fulfilment/fulfilment.fixture.js';
import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  withoutRepetitions,
} from '../test/store-api.fixture.js';

// Locks the row FOR UPDATE, as a stock count does. The lock of a plain UPDATE does not conflict with that of
// an order, FOR KEY SHARE.
const makeLimited = statement(
  'test.make-limited',
  'UPDATE products SET limited_edition = true, quantity = $2 WHERE id = (SELECT id FROM products WHERE id = $1 FOR UPDATE)',
);

/** Locks a product as an order of an unlimited product does. */
const lockAsOrder = statement('test.lock-sale', 'SELECT id FROM products WHERE id = $1 FOR KEY SHARE');

/** Locks a product as a stock event does. Fails if it is locked already. */
const lockAsStockEvent = statement(
  'test.lock-as-stock-event',
  'SELECT id FROM products WHERE id = $1 FOR NO KEY UPDATE NOWAIT',
);

const stockChange = z.object({
  product: z.object({ quantity: z.number(), updated_at: z.string() }),
  previous_quantity: z.number().nullable(),
});

describe('events of the pressing plant and the warehouse about a product', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
  });
  afterAll(() => store.stop());

  const publish = async (message: Message) => {
    await store.broker.publish(message);
    return store.outcomeOf(message);
  };

  const counted = (sku: string, quantity: number, minute: number) =>
    messages.fulfilmentStockSet.make({ sku, quantity }, atMinute(minute));
  const released = (sku: string, minute: number) =>
    messages.fulfilmentProductReleased.make({ sku }, atMinute(minute));
  const withdrawn = (sku: string, minute: number) =>
    messages.fulfilmentProductWithdrawn.make({ sku }, atMinute(minute));
  const product = async (id: string) =>
    (await store.get(`/store/v1/releases/${id}`, creator.token)).body.products[0];

  it('result in the latest stock count, in any order of arrival and with repetitions', async () => {
    for (const arrival of permutations([0, 1, 2])) {
      const { id, sku } = await store.release(creator.id, [{ quantity: 10 }]);
      const events = [counted(sku, 100, 1), counted(sku, 7, 2), counted(sku, 3, 3)];
      for (const message of [...arrival, ...arrival].flatMap((index) => events[index] ?? []))
        expect(await publish({ ...message, id: randomUUID() })).toMatchObject({ outcome: 'applied' });
      expect({ arrival, availability: (await product(id)).availability }).toEqual({
        arrival,
        availability: { limited_edition: true, quantity: 3 },
      });
    }
  });

  it('subtract later sales from a count that arrives late', async () => {
    const { id, sku } = await store.release(creator.id, [{ quantity: 10 }]);
    const stockCount = messages.fulfilmentStockSet.make({ sku, quantity: 10 }, { occurredAt: new Date() });
    const rate = await store.quote(creator.token);
    for (let sold = 0; sold < 4; sold += 1)
      await store.post('/store/v1/orders', creator.token, orderBody(sku, rate));
    await publish(stockCount);
    expect((await product(id)).availability.quantity).toBe(6);
  });

  it('prevent overselling by an order that read the product before its first count', async () => {
    const { id, skus } = await store.release(creator.id, [{}, {}]);
    const [sku = '', other = ''] = skus;
    const rate = await store.quote(creator.token);
    const order = {
      ...orderBody(sku, rate, 2),
      items: [other, sku].flatMap((one) => orderBody(one, rate, 2).items),
    };
    const counting = await store.database.begin();
    await counting.tx.run(makeLimited, [parsePublicId('prod', sku), 3]);
    const statuses = Promise.all(
      [1, 2].map(async () => (await store.post('/store/v1/orders', creator.token, order)).status),
    );
    await untilLockWaits(store.database, { count: 2 });
    await counting.commit();
    expect((await statuses).toSorted()).toEqual([201, 422]);
    expect((await product(id)).availability.quantity).toBe(1);
  });

  it('do not wait for an order of an unlimited product when one transaction handles several', async () => {
    const { skus } = await store.release(creator.id, [{ quantity: 10 }, {}]);
    const [, unlimited = ''] = skus;
    const rate = await store.quote(creator.token);
    const order = { ...orderBody('', rate), items: skus.flatMap((one) => orderBody(one, rate).items) };
    const adjustments = skus.map((sku) =>
      messages.fulfilmentStockAdjusted.make({ sku, delta: 1 }, { occurredAt: new Date() }),
    );
    const selling = await store.database.begin();
    await selling.tx.run(lockAsOrder, [parsePublicId('prod', unlimited)]);
    await store.database.transaction((tx) => store.app.get(FulfilmentConsumer).handle(tx, adjustments));
    const placed = await store.post('/store/v1/orders', creator.token, order);
    await selling.commit();
    expect(placed.status).toBe(201);
  });

  it('result in the status of the latest event, in any order of arrival', async () => {
    for (const arrival of permutations([0, 1, 2])) {
      const { id, sku } = await store.release(creator.id);
      const events = [withdrawn(sku, 1), released(sku, 2), withdrawn(sku, 3)];
      for (const message of arrival.flatMap((index) => events[index] ?? [])) await publish(message);
      expect({ arrival, status: (await product(id)).status }).toEqual({ arrival, status: 'unavailable' });
    }
  });

  it('do not withdraw a product when they are older than its approval', async () => {
    const { id, sku } = await store.release(creator.id, [{ status: 'pending' }]);
    await publish(messages.catalogueReleaseApproved.make({ release_id: id }, atMinute(2)));
    await publish(withdrawn(sku, 1));
    expect((await product(id)).status).toBe('available');
  });

  it('approve a release that is named by its UUID, in upper or lower case (RFC 9562 §4)', async () => {
    for (const form of ['toUpperCase', 'toLowerCase'] as const) {
      const { id, uuid } = await store.release(creator.id, [{ status: 'pending' }]);
      await publish(messages.catalogueReleaseApproved.make({ release_id: uuid[form]() }, atMinute(2)));
      expect((await product(id)).status).toBe('available');
    }
  });

  it('approve a release by locking its products in the order of their ids, as stock events do', async () => {
    const [low, high] = [uuidv7(), uuidv7()];
    const pending = [high, low].map((id) => ({ id, status: 'pending' as const, quantity: 1 }));
    const { id } = await store.release(creator.id, pending);
    const approval = messages.catalogueReleaseApproved.make({ release_id: id }, atMinute(1));
    await store.database.transaction(async (tx) => {
      await tx.run(lockAsStockEvent, [low]);
      await store.broker.publish(approval);
      await untilLockWaits(store.database);
      await tx.run(lockAsStockEvent, [high]);
    });
    expect(await store.outcomeOf(approval)).toMatchObject({ outcome: 'applied' });
    expect((await product(id)).status).toBe('available');
  });

  it('approve a pending product that was withdrawn before its approval arrived', async () => {
    for (const { minutes, statuses } of [
      { minutes: { withdrawn: 1, approved: 2 }, statuses: ['unavailable', 'available'] },
      {
        minutes: { withdrawn: 2, approved: 1, released: 3 },
        statuses: ['unavailable', 'unavailable', 'available'],
      },
    ]) {
      const { id, sku } = await store.release(creator.id, [{ status: 'pending', prices: null }]);
      const events = [
        withdrawn(sku, minutes.withdrawn),
        messages.catalogueReleaseApproved.make({ release_id: id }, atMinute(minutes.approved)),
        ...(minutes.released === undefined ? [] : [released(sku, minutes.released)]),
      ];
      const results: unknown[] = [];
      for (const message of events) {
        expect(await publish(message)).toMatchObject({ outcome: 'applied' });
        results.push((await product(id)).status);
      }
      expect(results).toEqual(statuses);
      expect((await product(id)).price.amount).toBeGreaterThan(0);
    }
  });

  it('override an event whose time was in the future when it arrived', async () => {
    const { id, sku } = await store.release(creator.id);
    const inFuture = { occurredAt: new Date('2999-01-01') };
    await publish(messages.fulfilmentProductWithdrawn.make({ sku }, inFuture));
    // The first event counts as of its arrival, which is before this time.
    const later = { occurredAt: new Date(Date.now() + 1000) };
    await publish(messages.fulfilmentProductReleased.make({ sku }, later));
    expect((await product(id)).status).toBe('available');
  });

  it('publish out_of_stock and in_stock exactly once per crossing of zero', async () => {
    const { sku, uuid } = await store.release(creator.id);
    const counts = [5, 5, 0, 0, 4].map((quantity, index) => counted(sku, quantity, index));
    for (const count of counts) await publish(count);
    const productEvents = () =>
      withoutRepetitions(store.broker.published).filter(
        ({ type, data }) => type.startsWith('product.') && JSON.stringify(data).includes(uuid),
      );
    await eventually(() => productEvents().length >= 5);
    expect(productEvents().map(({ type }) => type)).toEqual([
      'product.inventory_changed',
      'product.inventory_changed',
      'product.out_of_stock',
      'product.inventory_changed',
      'product.in_stock',
    ]);
    const previous = productEvents()
      .filter(({ type }) => type === 'product.inventory_changed')
      .map(({ data }) => stockChange.parse(data).previous_quantity);
    expect(previous).toEqual([null, 5, 0]); // null: it was unlimited before the first count
  });

  it('withdraw and release a product, and approve a pending release', async () => {
    const { id, sku } = await store.release(creator.id, [{ status: 'pending' }]);
    const status = async () => (await store.get(`/store/v1/releases/${id}`, creator.token)).body.status;
    expect(await status()).toBe('pending');
    await publish(messages.catalogueReleaseApproved.make({ release_id: id }, atMinute(1)));
    expect(await status()).toBe('available');
    await publish(withdrawn(sku, 2));
    expect(await status()).toBe('unavailable');
    const rate = await store.quote(creator.token);
    const response = await store.post('/store/v1/orders', creator.token, orderBody(sku, rate));
    expect(response.body.details).toEqual([{ field: 'items.0.sku', reason: 'not_available' }]);
    await publish(released(sku, 3));
    expect(await status()).toBe('available');
  });
});

describe('concurrent orders of a limited edition', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi();
  });
  afterAll(() => store.stop());

  it('publish each change of stock with a later updated_at, so that the newest one is current', async () => {
    const creator = await store.creator();
    const { sku } = await store.release(creator.id, [{ quantity: 10 }]);
    const rate = await store.quote(creator.token);
    await Promise.all(
      Array.from({ length: 8 }, () => store.post('/store/v1/orders', creator.token, orderBody(sku, rate))),
    );
    const changes = () =>
      withoutRepetitions(store.published('product.inventory_changed')).map(
        ({ data }) => stockChange.parse(data).product,
      );
    await eventually(() => changes().length === 8);
    const byTime = changes().sort((one, other) => (one.updated_at < other.updated_at ? -1 : 1));
    expect(byTime.map(({ quantity }) => quantity)).toEqual([9, 8, 7, 6, 5, 4, 3, 2]);
    expect(new Set(byTime.map(({ updated_at }) => updated_at)).size).toBe(8);
  });
});
