import { type CreatorSnapshot, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { countReplicaReads } from '@fulfilment/database/testing';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { anItem, anOrder, type Item, transitioned, paid } from '../orders/order-snapshot.fixture.js';
import { loadRates } from '../exchange-rates/load-rates.js';
import { rebuildStatistics } from './rebuild-statistics.js';

const owner = ownerClaims('org_harbour');
const raiseToLargestBigint = statement(
  'test.raise-revenue',
  'UPDATE monthly_statistics SET revenue = 9223372036854775807 WHERE creator_id = $1',
);
const readLedger = statement(
  'test.ledger-of',
  `SELECT kind, period, units, revenue, settled_revenue, settled_royalty, rate_date, rate_from::text, rate_to::text
   FROM ledger WHERE order_id = $1 ORDER BY kind DESC`,
);

describe('monthly statistics', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi({ DATABASE_READ_URL: 'postgres://replica.example/test' });
  });
  afterAll(() => api.stop());

  const sales = async ({ id }: CreatorSnapshot, period: string) =>
    (await api.get(`/api/v1/creators/${id}/stats/sales?period=${period}`, owner)).body;
  const royalties = async ({ id }: CreatorSnapshot, period: string) =>
    (await api.get(`/api/v1/creators/${id}/stats/royalties?period=${period}`, owner)).body;
  /** Sells to the United States, so without VAT, and by default with a royalty rate of 15 %. */
  const sell = async (creator: CreatorSnapshot, at: string, item: Partial<Item> = {}) => {
    const order = paid(anOrder(creator.id, { items: [anItem(item)], country_code: 'US' }), at);
    await api.record({ orders: [order] });
    return order;
  };

  it('prefer the read replica, like lists, and are read from the primary while the replica is down', async () => {
    const { id } = await api.newCreator();
    // The replica of this test does not exist: each read is counted as `lagging`, and uses the primary.
    const { lagging = 0 } = await countReplicaReads();
    for (const path of ['stats/sales?period=2026-01', 'stats/royalties?period=2026-01'])
      expect((await api.get(`/api/v1/creators/${id}/${path}`, owner)).status).toBe(200);
    for (const path of ['creators', `orders?creator=${id}`])
      expect((await api.get(`/api/v1/${path}`, owner)).status).toBe(200);
    expect(await countReplicaReads()).toEqual({ lagging: lagging + 4 });
  });

  it('count a sale in the UTC month of its payment, to the millisecond', async () => {
    const creator = await api.newCreator();
    await sell(creator, '2026-01-31T23:59:59.999Z', { quantity: 1, unit_amount: 100 });
    await sell(creator, '2026-02-01T00:00:00.000Z', { quantity: 2, unit_amount: 100 });
    await sell(creator, '2026-02-28T23:59:59.999Z', { quantity: 4, unit_amount: 100 });
    await sell(creator, '2026-03-01T00:00:00.000Z', { quantity: 8, unit_amount: 100 });
    const months = ['2026-01', '2026-02', '2026-03'];
    const units = await Promise.all(months.map(async (month) => (await sales(creator, month)).totals.units));
    expect(units).toEqual([1, 6, 8]);
  });

  it('are read from one snapshot during concurrent payments', async () => {
    const creator = await api.newCreator();
    let isSelling = true;
    const sellMany = async () => {
      try {
        for (let count = 0; count < 90; count += 1) await sell(creator, '2026-01-20T10:00:00.000Z');
      } finally {
        isSelling = false;
      }
    };
    const inconsistent: unknown[] = [];
    const readWhileSelling = async () => {
      while (isSelling) {
        const { totals, by_release } = await royalties(creator, '2026-01');
        const units = by_release.reduce((sum: number, release: { units: number }) => sum + release.units, 0);
        if (units !== totals.units) inconsistent.push([units, totals.units]);
      }
    };
    await Promise.all([sellMany(), readWhileSelling()]);
    expect(inconsistent).toEqual([]);
  });

  it('exclude unpaid orders', async () => {
    const creator = await api.newCreator();
    const pending = anOrder(creator.id);
    const failed = transitioned(anOrder(creator.id), 'payment_failed');
    const cancelled = transitioned(transitioned(anOrder(creator.id), 'payment_failed'), 'cancelled');
    await api.record({ orders: [pending, failed, cancelled] });
    expect(await sales(creator, '2026-03')).toEqual({
      period: '2026-03',
      currency: 'GBP',
      totals: { units: 0, revenue: 0 },
    });
  });

  it('count a refund in its own month and leave the month of the sale unchanged', async () => {
    const creator = await api.newCreator();
    const release = { release_id: uuidv7(), ean: '2000000000022', quantity: 2, unit_amount: 1000 };
    const sold = await sell(creator, '2026-01-20T10:00:00.000Z', release);
    const january = await royalties(creator, '2026-01');
    await api.record({ orders: [transitioned(sold, 'cancelled', '2026-02-01T00:00:00.000Z')] });
    expect(await royalties(creator, '2026-01')).toEqual(january);
    expect(january).toMatchObject({ totals: { units: 2, revenue: 2000, royalties: 300 } });
    expect(await royalties(creator, '2026-02')).toEqual({
      period: '2026-02',
      currency: 'GBP',
      totals: { units: -2, revenue: -2000, royalties: -300 },
      by_release: [
        { release_group: release.release_id, ean: '2000000000022', units: -2, royalty_amount: -300 },
      ],
    });
  });

  it('sum by release and EAN, highest royalties first, with an empty EAN for products without one', async () => {
    const creator = await api.newCreator();
    const at = '2026-05-05T05:05:05.000Z';
    const [one, other] = [uuidv7(), uuidv7()];
    await sell(creator, at, { release_id: one, ean: '2000000000015', quantity: 1, unit_amount: 1000 });
    await sell(creator, at, { release_id: one, ean: '2000000000015', quantity: 2, unit_amount: 1000 });
    await sell(creator, at, { release_id: one, ean: null, quantity: 1, unit_amount: 8000 });
    await sell(creator, at, { release_id: other, ean: '2000000000022', quantity: 1, unit_amount: 2000 });
    expect(await royalties(creator, '2026-05')).toEqual({
      period: '2026-05',
      currency: 'GBP',
      totals: { units: 5, revenue: 13000, royalties: 1950 },
      by_release: [
        { release_group: one, ean: '', units: 1, royalty_amount: 1200 },
        { release_group: one, ean: '2000000000015', units: 3, royalty_amount: 450 },
        { release_group: other, ean: '2000000000022', units: 1, royalty_amount: 300 },
      ],
    });
  });

  it('are whole yen for a creator with the settlement currency JPY', async () => {
    const creator = await api.newCreator({ settlement_currency: 'JPY' });
    const order = paid(
      anOrder(creator.id, {
        currency: 'JPY',
        country_code: 'JP',
        items: [anItem({ quantity: 1, unit_amount: 4800 })],
      }),
    );
    await api.record({ orders: [order] });
    // 4800 including 10 % VAT: 436.36 → 436; 15 % of 4364 is 654.6 → 655.
    expect(await royalties(creator, '2026-03')).toMatchObject({
      currency: 'JPY',
      totals: { units: 1, revenue: 4800, royalties: 655 },
    });
  });

  it('are exact above the safe integers of JavaScript', async () => {
    const creator = await api.newCreator();
    const maximum = { quantity: 1, unit_amount: Number.MAX_SAFE_INTEGER, royalty_rate: 10_000 };
    for (let index = 0; index < 3; index += 1) await sell(creator, '2026-04-01T00:00:00.000Z', maximum);
    const path = `/api/v1/creators/${creator.id}/stats`;
    const read = async (kind: string) => (await api.get(`${path}/${kind}?period=2026-04`, owner)).text;
    // 3 × 9007199254740991.
    expect(await read('sales')).toContain('"revenue":27021597764222973}');
    const { text, headers } = await api.get(`${path}/royalties?period=2026-04`, owner);
    expect(text).toContain('"royalties":27021597764222973}');
    expect(text.match(/"royalty_amount":\d+/g)).toHaveLength(3);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('include a sale once the rate of its day is known, and keep that rate when it is corrected later', async () => {
    const creator = await api.newCreator();
    const at = '2026-06-06T12:00:00.000Z'; // a Saturday: Friday's rates apply
    const item = anItem({ quantity: 1, unit_amount: 4800, royalty_rate: 1500 });
    const order = paid(anOrder(creator.id, { currency: 'JPY', country_code: 'US', items: [item] }), at);
    await api.record({ orders: [order] });
    expect((await sales(creator, '2026-06')).totals).toEqual({ units: 0, revenue: 0 });
    // Rates of a later day, and rates that are too old.
    await loadRates(api.database, 'Date,USD,JPY,GBP\n2026-06-07,1,1,1\n2026-05-29,1,1,1\n');
    expect((await sales(creator, '2026-06')).totals).toEqual({ units: 0, revenue: 0 });

    const loaded = await loadRates(api.database, 'Date,USD,JPY,GBP\n2026-06-05,1.05,162.43,0.8345\n');
    expect(loaded).toEqual({
      days: 1,
      first_day: '2026-06-05',
      last_day: '2026-06-05',
      bookings_waiting: 0,
    });
    // ¥4800 / 162.43 × 0.8345 = £24.66; the royalty of 15 %, ¥720, is £3.699.
    const posted = { units: 1, revenue: 2466, royalties: 370 };
    expect(await royalties(creator, '2026-06')).toMatchObject({ currency: 'GBP', totals: posted });

    await loadRates(api.database, 'Date,USD,JPY,GBP\n2026-06-05,1.05,200,0.5\n');
    expect(await royalties(creator, '2026-06')).toMatchObject({ totals: posted });
    await api.record({ orders: [transitioned(order, 'cancelled', '2026-07-01T00:00:00.000Z')] });
    const rate = { rate_date: '2026-06-05', rate_from: '162.43', rate_to: '0.8345' };
    expect(await api.database.rows(readLedger, [order.id])).toEqual([
      {
        kind: 'sale',
        period: '2026-06',
        units: 1,
        revenue: 4800,
        settled_revenue: 2466,
        settled_royalty: 370,
        ...rate,
      },
      {
        kind: 'refund',
        period: '2026-07',
        units: -1,
        revenue: -4800,
        settled_revenue: -2466,
        settled_royalty: -370,
        ...rate,
      },
    ]);
  });

  it('convert a sale at the newest rate of its day or of the six days before', async () => {
    const creator = await api.newCreator();
    const item = anItem({ quantity: 1, unit_amount: 1000 });
    const order = anOrder(creator.id, { currency: 'USD', country_code: 'US', items: [item] });
    await api.record({ orders: [paid(order, '2024-03-10T00:00:00.000Z')] });
    const load = (day: string) => loadRates(api.database, `Date,USD,JPY,GBP\n${day},1,150,0.5\n`);
    expect((await load('2024-03-03')).bookings_waiting).toBe(1);
    expect((await load('2024-03-04')).bookings_waiting).toBe(0);
    expect((await sales(creator, '2024-03')).totals).toEqual({ units: 1, revenue: 500 });
  });

  it('are exact above the largest bigint of PostgreSQL', async () => {
    const creator = await api.newCreator();
    const item = { release_id: uuidv7(), quantity: 1, unit_amount: 1 };
    await sell(creator, '2026-08-01T00:00:00.000Z', item);
    await api.database.run(raiseToLargestBigint, [creator.id]);
    await sell(creator, '2026-08-02T00:00:00.000Z', item);
    const { text } = await api.get(`/api/v1/creators/${creator.id}/stats/sales?period=2026-08`, owner);
    expect(text).toContain('"units":2,"revenue":9223372036854775808}');
    await rebuildStatistics(api.database); // corrects the raised sum
  });

  it.each(['9999-12', '0000-05'])('are zeros for %s', async (period) => {
    const creator = await api.newCreator();
    expect(await royalties(creator, period)).toEqual({
      period,
      currency: 'GBP',
      totals: { units: 0, revenue: 0, royalties: 0 },
      by_release: [],
    });
  });

  it.each([
    '',
    '?period=',
    '?period=2026-13',
    '?period=2026-00',
    '?period=2026-1',
    '?period=26-01',
    '?period=2026-01-01',
  ])('reject the period in "%s"', async (query) => {
    const creator = await api.newCreator();
    for (const kind of ['sales', 'royalties']) {
      const { status, body } = await api.get(`/api/v1/creators/${creator.id}/stats/${kind}${query}`, owner);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'period' }] });
    }
  });

  it('are based on a ledger that rejects updates and deletions', async () => {
    for (const change of ['UPDATE ledger SET units = 0', 'DELETE FROM ledger', 'TRUNCATE ledger'])
      await expect(api.database.run(statement(`test.${change}`, change))).rejects.toThrow('append-only');
  });

  it('have a separate rate limit of 600 requests a minute', async () => {
    const creator = await api.newCreator();
    const { headers } = await api.get(`/api/v1/creators/${creator.id}/stats/sales?period=2026-01`, owner);
    expect(headers['ratelimit-policy']).toBe('"stats";q=600;w=60');
  });
});
