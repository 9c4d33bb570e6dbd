import { nilUuid } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { executedPlan } from '@fulfilment/database/testing';
import type { CursorKey } from '@fulfilment/http-service';
import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../../test/store-api.fixture.js';
import { copyOrdersSql } from './copied-orders.fixture.js';
import type { ListOrdersDto } from './list-orders.dto.js';
import { boundValues, pageQuery } from './order-pages.js';

/** Copies an order. The copies were created minute by minute from 1 January, and changed in reverse order. */
const copyByMinute = statement(
  'test.copy-orders-by-minute',
  copyOrdersSql(`'created_at', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute',
                 'updated_at', '2026-02-01T00:00:00Z'::timestamptz + (:count::int - n) * interval '1 minute'`),
);
const markShipped = statement(
  'test.mark-shipped',
  `UPDATE orders SET status = 'shipped', updated_at = '2026-03-01T00:00:00Z' WHERE creator_id = $1 AND external_order_id = $2`,
);
const analyse = statement('test.analyse-orders', 'ANALYZE orders');

interface Listed {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

describe('GET /v1/orders with times', () => {
  let store: StoreApiUnderTest;
  /** Has the order that is copied. */
  let model: Creator;
  let creator: Creator;

  beforeAll(async () => {
    store = await startStoreApi();
    model = await store.creator();
    const { sku } = await store.release(model.id);
    await store.post('/store/v1/orders', model.token, orderBody(sku, await store.quote(model.token)));
    creator = await store.creator();
    await copyOrders(creator, 10);
  });
  afterAll(() => store.stop());

  const copyOrders = (owner: Creator, count: number) =>
    store.database.run(copyByMinute, { creator_id: owner.id, model_id: model.id, count });
  const list = (query: string, token = creator.token) => store.get(`/store/v1/orders?${query}`, token);
  const times = async (query: string, member: 'created_at' | 'updated_at', token?: string) =>
    (await list(query, token)).body.data.map((order: Listed) => order[member].slice(5, 16));

  it('returns the orders between two times, both exclusive, newest first', async () => {
    expect(
      await times('created_after=2026-01-01T00:03:00Z&created_before=2026-01-01T00:06:00Z', 'created_at'),
    ).toEqual(['01-01T00:05', '01-01T00:04']);
    expect(await times('created_before=2026-01-01T00:02:00%2B00:00', 'created_at')).toEqual(['01-01T00:01']);
    expect(await times('created_after=2026-01-01T01:09:00%2B01:00', 'created_at')).toEqual(['01-01T00:10']);
    expect(
      await times('created_after=2026-01-01T00:06:00Z&created_before=2026-01-01T00:03:00Z', 'created_at'),
    ).toEqual([]);
  });

  it('returns the orders that changed at or after a time, the oldest change first', async () => {
    expect(await times('updated_since=2026-02-01T00:08:00Z', 'updated_at')).toEqual([
      '02-01T00:08',
      '02-01T00:09',
    ]);
    const combined =
      'updated_since=2026-02-01T00:00:00Z&created_after=2026-01-01T00:08:00Z&status=processing';
    expect(await times(combined, 'created_at')).toEqual(['01-01T00:10', '01-01T00:09']);
  });

  it('returns an order that changes while the pages are read at the end, even if it was returned before', async () => {
    const owner = await store.creator();
    await copyOrders(owner, 10);
    const seen: string[] = [];
    let query = 'limit=3';
    for (let page = 0; ; page += 1) {
      const { body } = await list(`updated_since=2026-02-01T00:00:00Z&${query}`, owner.token);
      seen.push(
        ...body.data.map(
          ({ status, created_at }: Listed & { status: string }) => `${status} ${created_at.slice(14, 16)}`,
        ),
      );
      // The first order was read already, the last one was not.
      if (page === 0)
        for (const source of ['10', '1']) await store.database.run(markShipped, [owner.id, source]);
      if (!body.pagination.has_more) break;
      query = `limit=3&cursor=${body.pagination.next_cursor}`;
    }
    const unchanged = ['09', '08', '07', '06', '05', '04', '03', '02'].map(
      (minute) => `processing ${minute}`,
    );
    expect(seen.slice(0, 9)).toEqual(['processing 10', ...unchanged]);
    expect(seen.slice(9).sort()).toEqual(['shipped 01', 'shipped 10']);
  });

  it('returns no orders of another creator', async () => {
    const otherCreator = await store.creator();
    for (const query of ['updated_since=2020-01-01T00:00:00Z', 'created_after=2020-01-01T00:00:00Z'])
      expect((await list(query, otherCreator.token)).body.data).toEqual([]);
  });

  it('accepts a cursor only with the times of its list', async () => {
    const { body } = await list('limit=1&created_after=2026-01-01T00:03:00Z');
    const cursor = `cursor=${body.pagination.next_cursor}`;
    expect((await list(`created_after=2026-01-01T00:03:00Z&${cursor}`)).status).toBe(200);
    for (const query of [
      '',
      'created_after=2026-01-01T00:04:00Z&',
      'created_before=2026-01-01T00:03:00Z&',
      'updated_since=2026-01-01T00:03:00Z&',
    ]) {
      const response = await list(`${query}${cursor}`);
      expect([response.status, response.body.details[0].field]).toEqual([400, 'cursor']);
    }
  });

  it('binds a cursor to no times if the list has none, so that cursors from before the time filters stay valid', () => {
    expect(boundValues('creator', { limit: 25, platform: 'shopify' })).toEqual([
      'orders',
      'creator',
      undefined,
      'shopify',
      undefined,
      undefined,
    ]);
  });

  it.each(['created_after', 'created_before', 'updated_since'])(
    'rejects a %s that is not exactly one time',
    async (field) => {
      for (const value of [
        '',
        'yesterday',
        '2026-02-30T00:00:00Z',
        '2026-01-01',
        '1767225600',
        `2026-01-01T00:00:00Z&${field}=2026-01-01T00:00:00Z`,
      ]) {
        const { status, body } = await list(`${field}=${value}`);
        expect([value, status, body.details[0].field]).toEqual([value, 400, field]);
      }
    },
  );

  const created = { created_after: '2026-01-01T10:00:00Z', created_before: '2026-01-01T11:00:00Z' };
  const updated = { updated_since: '2026-02-01T10:00:00Z' };
  const atTenOClock = { micros: Date.parse(updated.updated_since) * 1000, id: nilUuid };

  it.each<[string, Partial<ListOrdersDto>, CursorKey | undefined]>([
    ['times of creation', created, undefined],
    ['times of creation and a filter', { ...created, status: 'processing' }, undefined],
    ['a time of change', updated, undefined],
    ['a time of change, after a cursor', updated, atTenOClock],
  ])('reads only the rows of a page of a list with %s', async (_, query, after) => {
    const owner = await store.creator();
    await copyOrders(owner, 5000);
    await store.database.run(analyse);
    const page = pageQuery(owner.id, { limit: 25, ...query }, after);
    const nodes = await executedPlan(store.database, page.statement, page.values);
    const rowsOfPage = 25 + 1; // one more shows whether there is a next page
    const scan = nodes.find((node) => node['Index Name'] !== undefined);
    expect(scan).toMatchObject({ 'Actual Rows': rowsOfPage });
    expect(nodes.filter((node) => node['Rows Removed by Filter'])).toEqual([]);
    expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toEqual([]);
  });
});
