import type { CreatorSnapshot } from '@fulfilment/contracts';
import fc from 'fast-check';
import { loadRates } from '../exchange-rates/load-rates.js';
import { orderHistory, orderStates, rates } from '../ledger/ledger.fixture.js';
import { anOrder, paid, transitioned } from '../orders/order-snapshot.fixture.js';
import { addUp, type Sums } from '../statistics/sums.fixture.js';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';

const owner = ownerClaims('org_harbour');
const connector = {
  client_id: 'app_connector',
  name: 'Connector',
  first_party: false,
  connected_at: '2026-01-02T03:04:05.678Z',
};
const dashboard = { client_id: 'dashboard', name: 'Dashboard', first_party: true, connected_at: null };
const sumsOfOrder = { units: 2, revenue: 4998 }; // of `anOrder`
const noFigures = { orders: 0, totals: { units: 0, revenue: 0, royalties: 0 } };

interface Figures {
  readonly orders: number;
  readonly totals: Sums;
}

describe('GET /api/v1/creators/:uuid/apps', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
    await loadRates(api.database, rates);
  });
  afterAll(() => api.stop());

  const read = async ({ id }: CreatorSnapshot, path: string) =>
    (await api.get(`/api/v1/creators/${id}${path}`, owner)).body;
  const apps = (creator: CreatorSnapshot, query = 'from=2026-01&to=2026-03') =>
    read(creator, `/apps?${query}`);

  it('lists connected apps without orders, and first-party and disconnected apps with orders', async () => {
    const creator = await api.newCreator({
      apps: [connector, { ...connector, client_id: 'app_unused' }, dashboard],
    });
    await api.record({
      orders: [
        anOrder(creator.id, { client_id: dashboard.client_id }),
        paid(anOrder(creator.id, { client_id: connector.client_id })),
        anOrder(creator.id, { client_id: 'app_nobody_knows' }),
      ],
    });
    await api.record({
      creators: [{ ...creator, version: 2, apps: [{ ...connector, client_id: 'app_unused' }] }],
    });
    const { data, meta } = await apps(creator);
    expect(data).toMatchObject([
      { ...connector, connected_at: null, orders: 1, totals: sumsOfOrder },
      { client_id: 'app_nobody_knows', name: null, first_party: false, connected_at: null, orders: 1 },
      { ...dashboard, orders: 1, totals: noFigures.totals },
      { client_id: 'app_unused', connected_at: connector.connected_at, ...noFigures },
    ]);
    expect(meta).toEqual({ page: 1, per_page: 25, total: 4 });
    const paged = await apps(creator, 'from=2026-01&per_page=3&page=2');
    expect(paged.data.map(({ client_id }: { client_id: string }) => client_id)).toEqual(['app_unused']);
    expect((await apps(creator, 'from=2026-04')).data).toMatchObject([
      { client_id: 'app_unused', ...noFigures },
    ]);
  });

  it('accepts months from 0001-01 on, and rejects months of the year 0000', async () => {
    const creator = await api.newCreator({ apps: [connector] });
    expect(await apps(creator, 'to=0001-05')).toMatchObject({
      from: '0001-01',
      to: '0001-05',
      meta: { total: 1 },
    });
    for (const [field, query] of Object.entries({ from: 'from=0000-01', to: 'to=0000-12' }))
      expect(await apps(creator, query)).toMatchObject({ statusCode: 400, details: [{ field }] });
  });

  it('lists an app with more refunds than sales after apps without either', async () => {
    const creator = await api.newCreator({ apps: [connector] });
    const charged = paid(anOrder(creator.id, { client_id: 'app_refunded' }), '2026-01-10T12:00:00.000Z');
    await api.record({ orders: [charged] });
    await api.record({ orders: [transitioned(charged, 'cancelled', '2026-02-10T12:00:00.000Z')] });
    expect((await apps(creator, 'from=2026-02&to=2026-02')).data).toMatchObject([
      { client_id: connector.client_id, ...noFigures },
      {
        client_id: 'app_refunded',
        orders: 0,
        totals: { units: -sumsOfOrder.units, revenue: -sumsOfOrder.revenue },
      },
    ]);
  });

  it('adds up to the statistics, and agrees with the series and the list of each app, for any orders and refunds', async () => {
    const historyWithApp = fc.record({ history: orderHistory, appIsKnown: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(historyWithApp, { minLength: 1, maxLength: 6 }), async (histories) => {
        const creators = [await api.newCreator(), await api.newCreator({ settlement_currency: 'JPY' })];
        const orders = histories.flatMap(({ history, appIsKnown }) =>
          orderStates(creators, history).map((order) =>
            appIsKnown ? order : { ...order, client_id: undefined },
          ),
        );
        for (const order of orders) await api.record({ orders: [order] });
        for (const creator of creators) {
          const { data, unknown } = await apps(creator);
          const { totals } = await read(creator, '/stats/series?from=2026-01&to=2026-03');
          const list = (query = '') => api.get(`/api/v1/orders?creator=${creator.id}${query}`, owner);
          const figures: Figures[] = [...data, unknown];
          expect({
            orders: figures.reduce((sum, { orders: count }) => sum + count, 0),
            totals: addUp(figures.map((each) => each.totals)),
          }).toEqual({ orders: (await list()).body.meta.total, totals });
          for (const app of data) {
            const filter = `app=${app.client_id}`;
            const appSeries = await read(creator, `/stats/series?from=2026-01&to=2026-03&${filter}`);
            expect(appSeries.totals).toEqual(app.totals);
            const { body } = await list(`&${filter}`);
            expect(body.meta.total).toBe(app.orders);
            expect(body.data.map((order: { app: string }) => order.app)).toEqual(
              Array.from({ length: app.orders }, () => app.client_id),
            );
          }
        }
      }),
      { numRuns: 4 },
    );
  });

  it('shows the app of an order whose first message, of an earlier version, did not name it', async () => {
    const creator = await api.newCreator();
    const order = anOrder(creator.id);
    await api.record({ orders: [order] });
    expect(await apps(creator)).toMatchObject({ data: [], unknown: { orders: 1 } });
    await api.record({ orders: [{ ...paid(order), client_id: 'app_late' }] });
    // A replica of the earlier version publishes the next snapshot.
    await api.record({ orders: [transitioned(paid(order), 'shipped')] });
    const { data, unknown } = await apps(creator);
    expect(data).toMatchObject([{ client_id: 'app_late', orders: 1, totals: { units: 2 } }]);
    expect(unknown).toEqual(noFigures);
  });

  it('shows the apps of the newest creator version that has a list of apps', async () => {
    const creator = await api.newCreator({ version: 5, apps: [connector] });
    await api.record({ creators: [{ ...creator, version: 4, apps: [] }] });
    expect((await apps(creator)).data).toHaveLength(1);
    // An earlier version publishes no apps.
    await api.record({ creators: [{ ...creator, version: 6, apps: undefined }] });
    expect((await apps(creator)).data).toHaveLength(1);
    await api.record({ creators: [{ ...creator, version: 7, apps: [] }] });
    expect((await apps(creator)).data).toEqual([]);
  });
});
