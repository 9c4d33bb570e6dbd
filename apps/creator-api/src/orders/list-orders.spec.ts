import type { OrderSnapshot } from '@fulfilment/contracts';
import supertest from 'supertest';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { anOrder, transitioned, paid } from './order-snapshot.fixture.js';

const owner = ownerClaims('org_harbour');

let api: CreatorApi;
beforeAll(async () => {
  api = await creatorApi();
});
afterAll(() => api.stop());

describe('GET /api/v1/orders', () => {
  const creator = aCreator('org_harbour');
  const placed = (at: string) => anOrder(creator.id, { placed_at: at, updated_at: at });

  const pending = placed('2026-03-01T00:00:00.000Z');
  const failed = transitioned(placed('2026-03-01T23:59:59.999Z'), 'payment_failed');
  const inProduction = paid(placed('2026-03-02T00:00:00.000Z'));
  const shipped = transitioned(paid(placed('2026-03-03T10:00:00.000Z')), 'shipped');
  const delivered = transitioned(
    transitioned(paid(placed('2026-03-04T10:00:00.000Z')), 'shipped'),
    'delivered',
  );
  const refunded = transitioned(paid(placed('2026-03-04T10:00:00.000Z')), 'cancelled');
  const all = [pending, failed, inProduction, shipped, delivered, refunded];

  beforeAll(() => api.record({ creators: [creator], orders: all }));

  const list = async (query: string) => {
    const { status, body } = await api.get(`/api/v1/orders?creator=${creator.id}${query}`, owner);
    expect(status).toBe(200);
    return { ...body, uuids: body.data.map((order: { uuid: string }) => order.uuid) };
  };
  const newestFirst = sortNewestFirst(all);

  it('lists the newest order first, and returns the exact total even past the last page', async () => {
    const { uuids, meta } = await list('');
    expect(uuids).toEqual(newestFirst.map((order) => order.id));
    expect(meta).toEqual({ page: 1, per_page: 25, total: 6 });
    const past = await list('&page=2');
    expect([past.data, past.meta.total]).toEqual([[], 6]);
  });

  it('reads the total and the page from one snapshot during concurrent inserts', async () => {
    const busy = aCreator('org_harbour');
    await api.record({ creators: [busy] });
    let isInserting = true;
    const insert = async () => {
      try {
        // Fewer than `per_page`, so that one page has all orders.
        for (let count = 0; count < 90; count += 1) await api.record({ orders: [anOrder(busy.id)] });
      } finally {
        isInserting = false;
      }
    };
    const inconsistent: unknown[] = [];
    const readWhileInserting = async () => {
      while (isInserting) {
        const { body } = await api.get(`/api/v1/orders?creator=${busy.id}&per_page=100`, owner);
        if (body.data.length !== body.meta.total) inconsistent.push([body.data.length, body.meta.total]);
      }
    };
    await Promise.all([insert(), readWhileInserting()]);
    expect(inconsistent).toEqual([]);
  });

  it('lists each matching order of four days on exactly one page, with and without a status, for four page sizes', async () => {
    const busy = aCreator('org_harbour');
    const orders = Array.from({ length: 83 }, (_, index) => {
      const at = `2026-05-0${1 + (index % 4)}T0${index % 3}:00:00.000Z`;
      const order = anOrder(busy.id, { placed_at: at, updated_at: at });
      if (index % 7 === 0) return order;
      return index % 11 === 0 ? transitioned(order, 'payment_failed') : paid(order);
    });
    await api.record({ creators: [busy], orders });
    const storeStatusesByFilter = {
      '': ['pending', 'payment_failed', 'processing'],
      '&status=pending': ['pending', 'payment_failed'],
      '&status=paid': ['processing'],
      '&status=failed': ['payment_failed'],
    };
    for (const [filter, statuses] of Object.entries(storeStatusesByFilter)) {
      const matching = orders.filter((order) => statuses.includes(order.status));
      for (const perPage of [1, 7, 20, 100]) {
        const expected = sortNewestFirst(matching).map((order) => order.id);
        const seen: string[] = [];
        for (let page = 1; seen.length < expected.length; page += 1) {
          const query = `creator=${busy.id}${filter}&per_page=${perPage}&page=${page}`;
          const { body } = await api.get(`/api/v1/orders?${query}`, owner);
          expect(body.meta.total).toBe(expected.length);
          expect(body.data.length).toBe(Math.min(perPage, expected.length - seen.length));
          seen.push(...body.data.map((order: { uuid: string }) => order.uuid));
        }
        expect(seen).toEqual(expected);
      }
    }
  });

  it.each([
    ['paid', [inProduction, shipped, delivered]],
    ['failed', [failed]],
    ['refunded', [refunded]],
    ['in_production', [inProduction]],
    ['dispatched', [shipped]],
    ['delivered', [delivered]],
    ['cancelled', [refunded]],
    ['pending', [pending, failed]], // the dispatch status of `failed` is pending, its payment status is not
  ])('filters by the payment or dispatch status %s', async (status, expected) => {
    const { uuids, meta } = await list(`&status=${status}`);
    expect(new Set(uuids)).toEqual(new Set(expected.map((order) => order.id)));
    expect(meta.total).toBe(expected.length);
  });

  it.each([
    ['&from=2026-03-02', [inProduction, shipped, delivered, refunded]],
    ['&to=2026-03-01', [pending, failed]],
    ['&from=2026-03-01&to=2026-03-01', [pending, failed]],
    ['&from=2026-03-02&to=2026-03-03', [inProduction, shipped]],
    ['&from=2026-03-02&status=paid&to=9999-12-31', [inProduction, shipped, delivered]],
    ['&from=0001-01-01&to=2026-02-28', []],
  ])('treats from and to as inclusive days in UTC: %s', async (query, expected) => {
    const { uuids, meta } = await list(query);
    expect(new Set(uuids)).toEqual(new Set(expected.map((order) => order.id)));
    expect(meta.total).toBe(expected.length);
  });

  it('accepts the UUID of a creator in upper case', async () => {
    const { status, body } = await api.get(`/api/v1/orders?creator=${creator.id.toUpperCase()}`, owner);
    expect([status, body.meta.total]).toEqual([200, 6]);
  });

  it.each([
    ['creator=', 'creator'],
    ['creator=crt_1', 'creator'],
    ['creator=ID&status=shipped', 'status'],
    ['creator=ID&status=', 'status'],
    ['creator=ID&from=2026-02-30', 'from'],
    ['creator=ID&from=2026-3-1', 'from'],
    ['creator=ID&from=0000-01-01', 'from'],
    ['creator=ID&from=2026-03-01T00:00:00Z', 'from'],
    ['creator=ID&to=yesterday', 'to'],
    ['creator=ID&to=2026-13-01', 'to'],
    ['creator=ID&from=2026-03-02&to=2026-03-01', 'from'],
  ])('rejects the query ?%s', async (query, field) => {
    const { status, body } = await api.get(`/api/v1/orders?${query.replaceAll('ID', creator.id)}`, owner);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
  });
});

describe('GET /api/v1/orders/{uuid}', () => {
  it.each([
    'me',
    '0199a000-0000-7000-8000-00000000000',
    'ord_00000000000000000000000000',
    '%00',
    '%ff',
    '%zz',
    '%',
  ])('rejects %s as a UUID, after it has checked the token and counted the request', async (uuid) => {
    const { status, body, headers } = await api.get(`/api/v1/orders/${uuid}`, owner);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'uuid' }] });
    expect(headers['ratelimit']).toMatch(/;r=\d+;t=\d+$/);
    const withoutToken = await supertest(api.app.getHttpServer()).get(`/creator/api/v1/orders/${uuid}`);
    expect(withoutToken.status).toBe(401);
  });
});

function sortNewestFirst(orders: readonly OrderSnapshot[]): OrderSnapshot[] {
  return orders.toSorted(
    (one, other) => other.placed_at.localeCompare(one.placed_at) || other.id.localeCompare(one.id),
  );
}
