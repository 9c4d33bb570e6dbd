import { statement } from '@fulfilment/database';
import { countReplicaReads, executedPlan } from '@fulfilment/database/testing';
import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  shippingPrice,
  unitPrice,
} from '../../test/store-api.fixture.js';
import { copyOrdersSql } from './copied-orders.fixture.js';
import type { ListOrdersDto } from './list-orders.dto.js';
import { pageQuery } from './order-pages.js';

const copyAtOneTime = statement(
  'test.copy-orders-at-one-time',
  copyOrdersSql(`'created_at', :created_at::timestamptz`),
);
const changeFilterValues = statement(
  'test.change-filter-values',
  "UPDATE orders SET status = 'shipped', platform = 'elsewhere', store_id = 's2' WHERE creator_id = $1",
);
const filterValues =
  'SELECT status, platform, store_id FROM orders WHERE creator_id = $1 ORDER BY created_at';
const newestValues = statement('test.newest-values', `${filterValues} DESC LIMIT 1`);
const oldestValues = statement('test.oldest-values', `${filterValues} LIMIT 1`);
const analyse = statement('test.analyse-orders', 'ANALYZE orders');
type FilterValues = Pick<ListOrdersDto, 'status' | 'platform' | 'store_id'>;

describe('GET /v1/orders', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let placed: string[];

  beforeAll(async () => {
    store = await startStoreApi({ DATABASE_READ_URL: 'postgres://replica.example/test' });
    creator = await store.creator();
    const { sku } = await store.release(creator.id);
    const rate = await store.quote(creator.token);
    placed = [];
    for (let index = 0; index < 6; index += 1) {
      const source = {
        platform: index % 2 === 0 ? 'shopify' : 'bandcamp',
        store_id: 's1',
        external_order_id: `#${index}`,
      };
      const { body } = await store.post('/store/v1/orders', creator.token, {
        ...orderBody(sku, rate),
        source,
      });
      placed.unshift(body.id);
    }
  });
  afterAll(() => store.stop());

  const copyOrders = (owner: Creator, count: number, createdAt: string) =>
    store.database.run(copyAtOneTime, {
      creator_id: owner.id,
      model_id: creator.id,
      count,
      created_at: createdAt,
    });
  const list = async (query = '', token = creator.token) => store.get(`/store/v1/orders${query}`, token);
  const ids = async (query: string) => (await list(query)).body.data.map(({ id }: { id: string }) => id);

  it('reads lists from a read replica, and single orders from the primary', async () => {
    // The replica is absent, so each read of it is counted as `lagging` and runs on the primary.
    const { lagging = 0 } = await countReplicaReads();
    await list();
    expect(await countReplicaReads()).toEqual({ lagging: lagging + 1 });
    await store.get(`/store/v1/orders/${placed[0]}`, creator.token);
    expect(await countReplicaReads()).toEqual({ lagging: lagging + 1 });
  });

  it('lists summaries, newest first, including an order that was just placed', async () => {
    const { body } = await list();
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(placed);
    expect(body.data[0]).toEqual({
      id: placed[0],
      status: 'processing',
      total: { amount: unitPrice + shippingPrice, currency: 'GBP' },
      item_count: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(body.pagination).toEqual({ next_cursor: null, has_more: false });
  });

  it('lists no orders for a token without a creator', async () => {
    const { status, body } = await list('', await store.tokens.token({ scope: 'orders:read' }));
    expect([status, body]).toEqual([200, { data: [], pagination: { next_cursor: null, has_more: false } }]);
  });

  it('filters by exact values, with one or several filters', async () => {
    expect(await ids('?platform=shopify')).toHaveLength(3);
    expect(await ids('?platform=shopify&store_id=s1&status=processing')).toHaveLength(3);
    expect(await ids('?external_order_id=%232')).toEqual([placed[3]]);
    expect(await ids('?platform=Shopify')).toEqual([]);
    expect(await ids('?status=pending')).toEqual([]);
  });

  it.each([
    ['status', 'platform'],
    ['status', 'store_id'],
    ['platform', 'store_id'],
  ] as const)('reads no rows that match only one of the filters %s and %s', async (filter, secondFilter) => {
    const owner = await store.creator();
    // One half of the orders has the first value, the other half the second one; no order has both.
    await copyOrders(owner, 5000, '2025-01-01T00:00:00Z');
    await store.database.run(changeFilterValues, [owner.id]);
    await copyOrders(owner, 5000, '2025-02-01T00:00:00Z');
    await store.database.run(analyse);
    const newest = await store.database.row<FilterValues>(newestValues, [owner.id]);
    const oldest = await store.database.row<FilterValues>(oldestValues, [owner.id]);
    const filters = { [filter]: newest?.[filter], [secondFilter]: oldest?.[secondFilter] };
    const page = pageQuery(owner.id, { limit: 25, ...filters }, undefined);
    const nodes = await executedPlan(store.database, page.statement, page.values);
    expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toContainEqual(
      expect.stringMatching(/^orders_by_/),
    );
    expect(nodes.filter((node) => node['Rows Removed by Filter'])).toEqual([]);
  });

  it('lists each of 10,000 orders of one microsecond exactly once while others are placed', async () => {
    const owner = await store.creator();
    await copyOrders(owner, 10_000, '2026-02-01T00:00:00.123456Z');
    const seen: string[] = [];
    let query = '?limit=100';
    for (;;) {
      const { body } = await list(query, owner.token);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      if (seen.length % 2000 === 0) await copyOrders(owner, 5, new Date().toISOString());
      if (!body.pagination.has_more) break;
      query = `?limit=100&cursor=${body.pagination.next_cursor}`;
    }
    expect(seen).toHaveLength(10_000);
    expect(new Set(seen).size).toBe(10_000);
  });

  it('accepts a cursor only for the list, filters and creator that it was created for', async () => {
    const { body } = await list('?limit=1&platform=shopify');
    const cursor = `cursor=${body.pagination.next_cursor}`;
    const otherCreator = await store.creator();
    expect((await list(`?platform=shopify&limit=50&${cursor}`)).status).toBe(200);
    const responses = await Promise.all([
      list(`?${cursor}`),
      list(`?platform=bandcamp&${cursor}`),
      list(`?platform=shopify&status=processing&${cursor}`),
      list(`?platform=shopify&${cursor}`, otherCreator.token),
      list('?cursor=eyJ9.AAAAAAAAAAAAAAAAAAAAAA'), // has the form of a cursor, with a wrong signature
      store.get(`/store/v1/releases?${cursor}`, creator.token),
    ]);
    for (const { status, body: envelope } of responses)
      expect([status, envelope.details[0].field]).toEqual([400, 'cursor']);
  });

  it.each(['%ff', '%', 'ord_%zz', '%00', '..%2f', 'ord_' + 'x'.repeat(2000)])(
    'treats %s as an unknown id, after the check of the token',
    async (id) => {
      expect((await store.get(`/store/v1/orders/${id}`, creator.token)).status).toBe(404);
      expect((await store.get(`/store/v1/orders/${id}`, 'nonsense')).status).toBe(401);
    },
  );

  it.each(['/store/V1/orders', '/store/v1/Orders', '/store/v1/orders/', '/store/v1//orders'])(
    'returns 404 for the path %s',
    async (path) => {
      expect((await store.get(path, creator.token)).status).toBe(404);
    },
  );

  it('does not return orders of another creator', async () => {
    const otherCreator = await store.creator();
    expect((await list('', otherCreator.token)).body.data).toEqual([]);
    expect((await store.get(`/store/v1/orders/${placed[0]}`, otherCreator.token)).status).toBe(404);
  });
});
