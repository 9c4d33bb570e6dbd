import { type CreatorSnapshot, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import fc from 'fast-check';
import { creatorApi, type CreatorApi, ownerClaims } from '../../test/creator-api.fixture.js';
import { loadRates } from '../../exchange-rates/load-rates.js';
import { orderHistory, orderStates, rates } from '../../ledger/ledger.fixture.js';
import { anItem, anOrder, type Item, paid } from '../../orders/order-snapshot.fixture.js';
import { rebuildBreakdown } from '../rebuild-statistics.js';
import { dimensions } from './series.shapes.js';
import { addUp, type Sums } from '../sums.fixture.js';

const owner = ownerClaims('org_harbour');
const months = ['2026-01', '2026-02', '2026-03'];

type Month = Sums & { readonly period: string };
const totalOfMonth = (rows: readonly Month[], period: string): Sums =>
  addUp(rows.filter((month) => month.period === period));
const zeros = addUp([]);

interface Sale {
  readonly at?: string;
  readonly country?: string;
  readonly platform?: string;
}

describe('the series of statistics', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
    await loadRates(api.database, rates);
  });
  afterAll(() => api.stop());

  const series = async ({ id }: CreatorSnapshot, query: string) =>
    (await api.get(`/api/v1/creators/${id}/stats/series?${query}`, owner)).body;
  const month = async ({ id }: CreatorSnapshot, kind: string, period: string) =>
    (await api.get(`/api/v1/creators/${id}/stats/${kind}?period=${period}`, owner)).body;
  const sell = (
    creator: CreatorSnapshot,
    { at = '2026-01-15T08:00:00.000Z', country = 'US', platform = 'api', ...item }: Partial<Item> & Sale = {},
  ) => {
    const source = { platform, store_id: 'shop', external_order_id: '1' };
    const order = anOrder(creator.id, { items: [anItem(item)], country_code: country, source });
    return api.record({ orders: [paid(order, at)] });
  };

  it('has the monthly statistics, to which its groups add up, and filters by the key of a group, for any orders and refunds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(orderHistory, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(...dimensions),
        async (histories, dimension) => {
          const creators = [await api.newCreator(), await api.newCreator({ settlement_currency: 'JPY' })];
          for (const order of histories.flatMap((history) => orderStates(creators, history)))
            await api.record({ orders: [order] });
          const range = `from=${months[0]}&to=${months.at(-1)}`;
          for (const creator of creators) {
            const all = await series(creator, `${range}&group_by=${dimension}`);
            expect(all.months.map(({ period }: Month) => period)).toEqual(months);
            expect(all.totals).toEqual(addUp(all.months));
            const filtered = await Promise.all(
              all.groups.map(({ key }: { key: string }) => series(creator, `${range}&${dimension}=${key}`)),
            );
            for (const period of months) {
              const [sales, royalties] = [
                await month(creator, 'sales', period),
                await month(creator, 'royalties', period),
              ];
              const shown = totalOfMonth(all.months, period);
              expect(shown).toEqual(royalties.totals);
              expect(shown).toMatchObject(sales.totals);
              const grouped = all.groups.map((group: { months: Month[] }) =>
                totalOfMonth(group.months, period),
              );
              expect(addUp([...grouped, totalOfMonth(all.other.months, period)])).toEqual(shown);
              expect(totalOfMonth(all.other.months, period)).toEqual(zeros);
              expect(filtered.map((one) => totalOfMonth(one.months, period))).toEqual(grouped);
            }
          }
        },
      ),
      { numRuns: 4 },
    );
  });

  it('is grouped by release, product type, country or platform, the highest revenue first, and filtered by three of them at once', async () => {
    const creator = await api.newCreator();
    const [lp, tape] = [uuidv7(), uuidv7()];
    await sell(creator, { release_id: lp, quantity: 3, unit_amount: 1000 });
    const elsewhere = { country: 'SE', platform: 'shopify' };
    const cassette = { release_id: tape, product_type: 'cassette', quantity: 1, unit_amount: 1000 };
    await sell(creator, { ...elsewhere, ...cassette });
    const keys = async (dimension: string) =>
      (await series(creator, `from=2026-01&group_by=${dimension}`)).groups.map(
        ({ key, totals }: { key: string; totals: Sums }) => [key, totals.units],
      );
    expect(await keys('release')).toEqual([
      [lp, 3],
      [tape, 1],
    ]);
    expect(await keys('product_type')).toEqual([
      ['vinyl_12_lp', 3],
      ['cassette', 1],
    ]);
    expect(await keys('country')).toEqual([
      ['US', 3],
      ['SE', 1],
    ]);
    expect(await keys('platform')).toEqual([
      ['api', 3],
      ['shopify', 1],
    ]);
    const one = await series(creator, 'from=2026-01&country=SE&platform=shopify&product_type=cassette');
    expect(one.totals).toMatchObject({ units: 1, revenue: 1000 });
    expect((await series(creator, 'from=2026-01&country=SE&platform=api')).totals.units).toBe(0);
    expect(one).toMatchObject({ groups: null, other: null });
  });

  it('shows the 100 groups with the highest revenue, and the sum of the others', async () => {
    const creator = await api.newCreator();
    const items = Array.from({ length: 103 }, (_, index) =>
      anItem({ release_id: uuidv7(), quantity: 1, unit_amount: index < 3 ? 1 : 100 }),
    );
    await api.record({ orders: [paid(anOrder(creator.id, { items }), '2026-01-15T08:00:00.000Z')] });
    const { groups, other, totals } = await series(creator, 'from=2026-01&group_by=release');
    expect(groups).toHaveLength(100);
    expect(other.totals).toMatchObject({ units: 3, revenue: 3 });
    expect(totals).toMatchObject({ units: 103, revenue: 10_003 });
  });

  it('shows payments that are missing in the breakdown as `other`, until the breakdown is rebuilt', async () => {
    const creator = await api.newCreator();
    await sell(creator, { quantity: 2, unit_amount: 500 });
    const deleteBreakdown = statement(
      'test.delete-breakdown',
      'DELETE FROM monthly_breakdown WHERE creator_id = $1',
    );
    await api.database.run(deleteBreakdown, [creator.id]);
    const before = await series(creator, 'from=2026-01&group_by=country');
    expect(before).toMatchObject({ groups: [], other: { totals: { units: 2 } }, totals: { units: 2 } });
    // Groups by release are read from `monthly_statistics`.
    const byRelease = await series(creator, 'from=2026-01&group_by=release');
    expect(byRelease).toMatchObject({ groups: [{ totals: { units: 2 } }], other: { totals: { units: 0 } } });
    expect(await rebuildBreakdown(api.database)).toMatchObject({ differed: 1 });
    const after = await series(creator, 'from=2026-01&group_by=country');
    expect(after).toMatchObject({
      groups: [{ key: 'US', totals: { units: 2 } }],
      other: { totals: { units: 0 } },
    });
    expect(await rebuildBreakdown(api.database)).toMatchObject({ differed: 0 });
  });

  it('is exact above the safe integers of JavaScript', async () => {
    const creator = await api.newCreator();
    const maximum = { unit_amount: Number.MAX_SAFE_INTEGER, quantity: 1, royalty_rate: 10_000 };
    for (let index = 0; index < 3; index += 1) await sell(creator, maximum);
    const { text } = await api.get(
      `/api/v1/creators/${creator.id}/stats/series?from=2026-01&to=2026-01&group_by=country`,
      owner,
    );
    // 3 × 9007199254740991, in the totals and the month of the series, and in those of its only group.
    expect(text.match(/"revenue":27021597764222973,/g)).toHaveLength(4);
  });

  it.each([
    ['from=2026-13', 'from', 'must be a month, YYYY-MM'],
    ['group_by=ean', 'group_by', 'must be one of release, product_type, country, platform, app'],
    ['country=de', 'country', 'must be two capital letters'],
  ])('rejects the query ?%s', async (query, field, reason) => {
    const creator = await api.newCreator();
    const path = `/api/v1/creators/${creator.id}/stats/series?${query}`;
    const { status, body } = await api.get(path, owner);
    expect([status, body.details]).toEqual([400, [{ field, reason }]]);
  });

  it('returns 36 months with zeros for a creator without payments', async () => {
    const creator = await api.newCreator();
    const all = await series(creator, 'from=2023-02&to=2026-01');
    expect(all.months).toHaveLength(36);
    expect(all.totals).toEqual(zeros);
  });
});
