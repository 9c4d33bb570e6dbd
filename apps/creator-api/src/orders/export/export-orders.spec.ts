import { ReadDatabase, statement, type Transaction } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { eventually } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { creatorApi, type CreatorApi, ownerClaims } from '../../test/creator-api.fixture.js';
import { expectDownloadLimits } from '../../test/download-limits.fixture.js';
import { aMember } from '../../visibility/caller.fixture.js';
import { Visibility } from '../../visibility/visibility.js';
import { anItem, anOrder, paid, transitioned } from '../order-snapshot.fixture.js';
import { exportColumns, ExportOrders } from './export-orders.js';

const owner = ownerClaims('org_harbour');
const useBerlinTime = statement(
  'test.use-berlin-time',
  `SELECT set_config('timezone', 'Europe/Berlin', true)`,
);
/** Does what `idle_in_transaction_session_timeout` does after 30 s. */
const endIdleExports = statement(
  'test.end-idle-exports',
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%FROM order_items%'`,
);
const lockOrders = statement('test.lock-orders', 'LOCK TABLE orders');
const lines = (csv: string) => csv.split('\r\n').slice(1, -1);

describe('the export of orders', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
  });
  afterAll(() => api.stop());

  const download = (creator: { id: string }, query = '') =>
    api.get(`/api/v1/orders/export?creator=${creator.id}${query}`, owner);

  it('has a line for each order line, with the figures of the order, the newest order first', async () => {
    const creator = await api.newCreator();
    const older = anOrder(creator.id, { placed_at: '2026-03-01T00:00:00.000Z' });
    const items = [anItem({ release_title: '=HYPERLINK("http://evil.example")' }), anItem({ ean: null })];
    const newer = paid(anOrder(creator.id, { items, placed_at: '2026-03-02T00:00:00.000Z' }));
    await api.record({ orders: [older, newer] });
    const { status, text: csv, headers } = await download(creator);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers['content-disposition']).toBe('attachment; filename=orders.csv');
    expect(csv.split('\r\n')[0]).toBe(exportColumns.join(','));
    const [first, second, third] = lines(csv);
    expect(lines(csv)).toHaveLength(3);
    const { body } = await api.get(`/api/v1/orders/${newer.id}`, owner);
    const cells = second?.split(',') ?? [];
    expect(Object.fromEntries(exportColumns.map((column, index) => [column, cells[index]]))).toEqual({
      order: newer.id,
      human_order_id: body.human_order_id,
      placed_at: newer.placed_at,
      currency: 'GBP',
      payment_status: 'paid',
      dispatch_status: 'in_production',
      tracking_code: '',
      country: 'GB',
      platform: 'api',
      item: items[1]?.id,
      release_group: items[1]?.release_id,
      release_title: 'Tidal Maps',
      ean: '',
      product_type: 'vinyl_12_lp',
      quantity: '2',
      unit_amount: '2499',
      total_amount: '4998',
      vat_amount: String(body.items[1].vat_amount),
      royalty_rate: '1500',
      royalty_amount: String(body.items[1].royalty_amount),
      app: '',
    });
    expect(first).toContain(`,"'=HYPERLINK(""http://evil.example"")",`);
    expect(third).toContain(older.id);
  });

  it.each(['', '&status=paid', '&from=2026-03-02', '&to=2026-03-02', '&from=2026-03-02&to=2026-03-02'])(
    'has the same orders as the list with the filters "%s"',
    async (query) => {
      const creator = await api.newCreator();
      const at = (day: string) => ({ placed_at: `2026-03-${day}T23:59:59.999Z` });
      const orders = [
        anOrder(creator.id, at('01')),
        paid(anOrder(creator.id, at('02'))),
        anOrder(creator.id, at('03')),
      ];
      await api.record({ orders });
      const { body } = await api.get(`/api/v1/orders?creator=${creator.id}${query}`, owner);
      const exported = lines((await download(creator, query)).text).map((line) => line.split(',')[0]);
      expect(exported).toEqual(body.data.map(({ uuid }: { uuid: string }) => uuid));
    },
  );

  it('has the orders of days in UTC, regardless of the time zone of PostgreSQL', async () => {
    class VisibilityInBerlinTime extends Visibility {
      override snapshot<Result>(caller: Caller, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
        return super.snapshot(caller, async (tx) => {
          await tx.run(useBerlinTime);
          return work(tx);
        });
      }
    }
    const creator = await api.newCreator();
    const order = anOrder(creator.id, { placed_at: '2026-03-29T23:59:59.999Z' });
    await api.record({ orders: [order] });
    // Summer time begins on this day, so in Berlin it has 23 hours.
    const day = { from: '2026-03-29', to: '2026-03-29' };
    const visibility = new VisibilityInBerlinTime(api.database, new ReadDatabase(api.database));
    const exports = new ExportOrders(visibility);
    const csv = await text(await exports.run(aMember, { creator: creator.id, ...day }));
    expect(lines(csv)).toHaveLength(1);
  });

  it('has only the orders of the app in the filter, with the app of each', async () => {
    const creator = await api.newCreator();
    const orderOfApp = paid(anOrder(creator.id, { client_id: 'app_one' }));
    const otherOrder = paid(anOrder(creator.id, { client_id: 'app_two' }));
    await api.record({ orders: [orderOfApp, otherOrder] });
    const cells = lines((await download(creator, '&app=app_one')).text).map((line) => line.split(','));
    expect(cells.map((row) => [row[0], row.at(-1)])).toEqual([[orderOfApp.id, 'app_one']]);
  });

  it('has the orders of one snapshot, even if orders are placed and changed while it is read', async () => {
    const creator = await api.newCreator();
    // Three pages of at most 200 orders.
    const orders = Array.from({ length: 450 }, (_, index) =>
      anOrder(creator.id, { placed_at: new Date(Date.UTC(2026, 2, 1) + index * 1000).toISOString() }),
    );
    await api.record({ orders });
    const exports = new ExportOrders(new Visibility(api.database, new ReadDatabase(api.database)));
    // Resolves at the first line, when the snapshot exists.
    const stream = await exports.run(aMember, { creator: creator.id });
    await api.record({
      orders: [anOrder(creator.id), ...orders.map((order) => transitioned(order, 'payment_failed'))],
    });
    const rows = lines(await text(stream)).map((line) => line.split(','));
    expect(rows.map(([order]) => order)).toEqual(orders.map(({ id }) => id).toReversed());
    const paymentStatus = exportColumns.indexOf('payment_status');
    expect(new Set(rows.map((cells) => cells[paymentStatus]))).toEqual(new Set(['pending']));
  });

  it('breaks off when the client has not read it to its end after 10 minutes', async () => {
    const { id: creator } = await api.newCreator();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const exporting = api.app.get(ExportOrders).run(aMember, { creator }); // starts its timer at once
    const [endExport] = timers.mock.calls.find(([, delayMs]) => delayMs === 10 * 60_000) ?? [];
    timers.mockRestore();
    const stream = await exporting;
    endExport?.();
    await expect(text(stream)).rejects.toThrow('The reader is too slow.');
  });

  it('breaks off when PostgreSQL ends its transaction, because the client reads nothing', async () => {
    const creator = await api.newCreator();
    const orders = Array.from({ length: 450 }, () => anOrder(creator.id));
    await api.record({ orders });
    const stream = await api.app.get(ExportOrders).run(aMember, { creator: creator.id });
    await eventually(async () => (await api.database.rows(endIdleExports)).length > 0);
    await expect(text(stream)).rejects.toThrow('PostgreSQL is unavailable');
  });

  it('runs at most twice at once, and once for an organisation', async () => {
    const exportOf = async (organisation: string) => {
      const { id } = await api.newCreator({ organisation_id: organisation });
      return { organisation, path: `/api/v1/orders/export?creator=${id}` };
    };
    await expectDownloadLimits(api, lockOrders, [
      await exportOf('org_one'),
      await exportOf('org_two'),
      await exportOf('org_three'),
    ]);
  });

  it('rejects an empty range', async () => {
    const creator = await api.newCreator();
    const { status, body } = await download(creator, '&from=2026-03-02&to=2026-03-01');
    expect([status, body.details]).toEqual([400, [{ field: 'from', reason: 'must not be after `to`' }]]);
  });
});
