import type { CreatorSnapshot, Currency } from '@fulfilment/contracts';
import fc from 'fast-check';
import { creatorApi, type CreatorApi, ownerClaims } from '../../test/creator-api.fixture.js';
import { loadRates } from '../../exchange-rates/load-rates.js';
import { orderHistory, orderStates, rates } from '../../ledger/ledger.fixture.js';
import { convert } from '../../money/convert-currency.rules.js';
import { divideHalfEven } from '../../money/round-half-even.rules.js';
import { anItem, anOrder, paid, transitioned } from '../../orders/order-snapshot.fixture.js';
import { addUp } from '../sums.fixture.js';

const owner = ownerClaims('org_harbour');

interface Amounts {
  readonly currency: Currency;
  readonly revenue: number;
  readonly vat: number;
  readonly royalty: number;
}
interface Line {
  readonly kind: string;
  readonly item: string;
  readonly order: string;
  readonly units: number;
  readonly royalty_rate: number;
  readonly original: Amounts;
  readonly settled: Amounts;
  readonly exchange_rate: { date: string; from: string; to: string } | null;
}

describe('the ledger lines of a month', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
    await loadRates(api.database, rates);
  });
  afterAll(() => api.stop());

  const page = async ({ id }: CreatorSnapshot, query: string) =>
    (await api.get(`/api/v1/creators/${id}/ledger?${query}`, owner)).body;
  const stats = async ({ id }: CreatorSnapshot, path: string) =>
    (await api.get(`/api/v1/creators/${id}/stats/${path}`, owner)).body;
  /** Returns the totals, and the lines of all pages. */
  async function read(creator: CreatorSnapshot, query: string) {
    const lines: Line[] = [];
    let cursor = '';
    for (;;) {
      const { totals, data, pagination } = await page(creator, `${query}${cursor}`);
      lines.push(...data);
      if (pagination.next_cursor === null) return { totals, lines };
      cursor = `&cursor=${pagination.next_cursor}`;
    }
  }
  const sumLines = (lines: readonly Line[]) =>
    addUp(lines.map(({ units, settled: { revenue, royalty } }) => ({ units, revenue, royalties: royalty })));

  it('add up to the figure of the month, of each release and of each country, for any orders and refunds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(orderHistory, { minLength: 1, maxLength: 6 }), async (histories) => {
        const creators = [await api.newCreator(), await api.newCreator({ settlement_currency: 'JPY' })];
        for (const order of histories.flatMap((history) => orderStates(creators, history)))
          await api.record({ orders: [order] });
        for (const creator of creators)
          for (const period of ['2026-01', '2026-02']) {
            const { totals } = await stats(creator, `royalties?period=${period}`);
            const all = await read(creator, `period=${period}&limit=2`);
            expect(all.totals).toEqual(totals);
            expect(sumLines(all.lines)).toEqual(totals);
            for (const dimension of ['release', 'country']) {
              const query = `series?from=${period}&to=${period}&group_by=${dimension}`;
              const { groups } = await stats(creator, query);
              for (const { key, totals: expected } of groups) {
                const one = await read(creator, `period=${period}&${dimension}=${key}`);
                expect(one.totals).toEqual(expected);
                expect(sumLines(one.lines)).toEqual(expected);
              }
            }
          }
      }),
      { numRuns: 3 },
    );
  });

  it('contain the rates and amounts from which each amount was calculated', async () => {
    const creator = await api.newCreator();
    const items = [
      anItem({ quantity: 3, unit_amount: 1999, royalty_rate: 1250 }),
      anItem({ unit_amount: 4801 }),
    ];
    const order = paid(
      anOrder(creator.id, { currency: 'JPY', country_code: 'JP', items }),
      '2026-01-31T12:00:00.000Z',
    );
    await api.record({ orders: [order] });
    await api.record({ orders: [transitioned(order, 'cancelled', '2026-01-31T13:00:00.000Z')] });
    const { lines } = await read(creator, 'period=2026-01');
    expect(lines.map(({ kind }) => kind)).toEqual(['refund', 'refund', 'sale', 'sale']);
    const rate = { date: '2026-01-30', from: '170.01', to: '0.81' };
    for (const { original, settled, royalty_rate, exchange_rate } of lines) {
      expect(exchange_rate).toEqual(rate);
      const base = BigInt(original.revenue - original.vat) * BigInt(royalty_rate);
      expect(BigInt(original.royalty)).toBe(divideHalfEven(base, 10_000n));
      const inPounds = (amount: number) => Number(convert(BigInt(amount), 'JPY', 'GBP', rate));
      for (const name of ['revenue', 'vat', 'royalty'] as const)
        expect(settled[name]).toBe(inPounds(original[name]));
    }
    expect(sumLines(lines)).toEqual({ units: 0, revenue: 0, royalties: 0 });
  });

  it('are limited to the orders of the app that the request names', async () => {
    const creator = await api.newCreator();
    const sale = (client_id: string) => paid(anOrder(creator.id, { client_id }), '2026-01-15T08:00:00.000Z');
    const orderOfApp = sale('app_one');
    await api.record({ orders: [orderOfApp, sale('app_two')] });
    expect(await page(creator, 'period=2026-01&app=app_one')).toMatchObject({
      totals: { units: 2 },
      data: [{ order: orderOfApp.id, app: 'app_one' }],
    });
    expect((await page(creator, 'period=2026-01&app=app_three')).data).toEqual([]);
  });

  it('reject a cursor of another creator, month or filter', async () => {
    const [creator, other] = [await api.newCreator(), await api.newCreator()];
    const items = [anItem(), anItem(), anItem()];
    await api.record({ orders: [paid(anOrder(creator.id, { items }), '2026-01-15T08:00:00.000Z')] });
    const { pagination } = await page(creator, 'period=2026-01&limit=1');
    for (const [requested, query] of [
      [creator, 'period=2026-02'],
      [creator, 'period=2026-01&country=GB'],
      [other, 'period=2026-01'],
    ] as const) {
      const body = await page(requested, `${query}&cursor=${pagination.next_cursor}`);
      expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'cursor' }] });
    }
  });
});
