import { type CreatorSnapshot, type OrderSnapshot } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { loadRates } from '../exchange-rates/load-rates.js';
import { closeMonths } from '../ledger/close-months.js';
import { orderHistory, orderStates, rates } from '../ledger/ledger.fixture.js';
import { anOrder, paid, transitioned } from '../orders/order-snapshot.fixture.js';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { expectDownloadLimits } from '../test/download-limits.fixture.js';
import { issueNext, issueStatements } from './issue-statements.js';
import { StatementIssuing } from './statement-issuing.job.js';

const owner = ownerClaims('org_harbour');
const reopenAll = statement('test.reopen', `UPDATE statistics_close SET first_open_month = '0001-01'`);
const readStatementsBefore = statement(
  'test.statements-before',
  'SELECT statements_before FROM statistics_close',
);
const tamper = ['UPDATE statements SET units = 0', 'DELETE FROM statements', 'TRUNCATE statements'].map(
  (text, index) => statement(`test.tamper-${index}`, text),
);
// Triggers reject changes of statements, except in this mode.
const disableTriggers = statement('test.disable-triggers', 'SET LOCAL session_replication_role = replica');
const changeDigest = statement(
  'test.change-digest',
  `UPDATE statements SET csv_sha256 = sha256('another file') WHERE creator_id = $1`,
);
const lockLedger = statement('test.lock-ledger', 'LOCK TABLE ledger');
/** Returns the time at which a month closes, with close day 5. */
const closingTime = (month: string) => {
  const closesAt = new Date(`${month}-05T00:00:00.000Z`);
  closesAt.setUTCMonth(closesAt.getUTCMonth() + 1);
  return closesAt;
};

describe('the statements of a creator', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
    await loadRates(api.database, rates);
  });
  afterAll(() => api.stop());
  beforeEach(() => api.database.run(reopenAll));

  const record = (...orders: OrderSnapshot[]) => api.record({ orders });
  const close = (month: string) => closeMonths(api.database, { closeDay: 5, now: closingTime(month) });
  const get = ({ id }: CreatorSnapshot, path: string) => api.get(`/api/v1/creators/${id}/${path}`, owner);
  const list = async (creator: CreatorSnapshot, query = '') =>
    (await get(creator, `statements?${query}`)).body;
  const download = async (creator: CreatorSnapshot, number: number) => {
    const { text, headers } = await get(creator, `statements/${number}/csv`);
    return { text, digest: headers['repr-digest'], type: headers['content-type'] };
  };
  const sale = (creator: CreatorSnapshot, at: string) => paid(anOrder(creator.id, { placed_at: at }), at);

  it('have the sums of the statistics, and of their ledger lines and CSV lines, for any orders and refunds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(orderHistory, { minLength: 1, maxLength: 6 }), async (histories) => {
        await api.database.run(reopenAll);
        const creators = [await api.newCreator(), await api.newCreator({ settlement_currency: 'JPY' })];
        const states = histories.map((history) => orderStates(creators, history));
        const statesAt = (step: number) => states.flatMap((each) => each.slice(step, step + 1));
        await record(...statesAt(0));
        for (const step of [1, 2, 3]) {
          for (const order of statesAt(step)) await record(order);
          if (step === 2) await close('2026-01'); // later postings of January count in February
        }
        await close('2026-03');
        for (const creator of creators) {
          await issueStatements(api.database, creator.id);
          const { data } = await list(creator);
          expect(data.map(({ number }: { number: number }) => number)).toEqual(
            Array.from(data, (_, index) => data.length - index),
          );
          for (const { number, period, totals, lines } of data) {
            expect((await get(creator, `stats/royalties?period=${period}`)).body.totals).toEqual(totals);
            const ledger = (await get(creator, `ledger?period=${period}&limit=100`)).body;
            expect([ledger.totals, ledger.data.length]).toEqual([totals, lines]);
            const { text } = await download(creator, number);
            const [columns = [], ...rows] = text
              .trim()
              .split('\r\n')
              .map((line) => line.split(','));
            const sum = (column: string) =>
              rows.reduce((total, row) => total + Number(row[columns.indexOf(column)]), 0);
            expect({
              units: sum('units'),
              revenue: sum('settled_revenue'),
              royalties: sum('settled_royalty'),
            }).toEqual(totals);
            expect(rows).toHaveLength(lines);
          }
        }
      }),
      { numRuns: 4 },
    );
  });

  it('never change: a later refund is in the statement of the next month', async () => {
    const creator = await api.newCreator();
    const order = sale(creator, '2026-01-15T08:00:00.000Z');
    await record(order);
    await close('2026-01');
    await issueStatements(api.database, creator.id);
    const [before] = (await list(creator)).data;
    const file = await download(creator, 1);
    await record(transitioned(order, 'cancelled', '2026-01-20T08:00:00.000Z'));
    await close('2026-02');
    expect(await issueStatements(api.database, creator.id)).toBe(1);
    const { data, meta } = await list(creator);
    expect(data).toMatchObject([
      { number: 2, period: '2026-02', lines: 1, totals: { units: -2, revenue: -4998, royalties: -625 } },
      before,
    ]);
    expect(meta.total).toBe(2);
    expect(await download(creator, 1)).toEqual(file);
    expect((await list(creator, 'per_page=1&page=2')).data).toEqual([before]);
    expect((await get(creator, 'statements/1')).body).toEqual(before);
    for (const change of tamper) await expect(api.database.run(change)).rejects.toThrow('append-only');
  });

  it('name the SHA-256 and the size of their CSV file, whose format never changes', async () => {
    const creator = await api.newCreator({
      id: '019a7f2e-9f01-7a4b-8c3d-5e6f70819203',
      settlement_currency: 'JPY',
    });
    const item = {
      id: '019a7f2e-a1b3-7001-9a2b-3c4d5e6f7081',
      release_id: '019a7f2e-0c11-7d22-8e33-4f5566778899',
    };
    const order = anOrder(creator.id, { id: '019a7f2e-a1b2-7c3d-8e4f-506172839405' });
    const items = order.items.map((each) => ({ ...each, ...item }));
    await record(paid({ ...order, items }, '2026-01-15T08:00:00.123Z'));
    await close('2026-01');
    await issueStatements(api.database, creator.id);
    const { body } = await get(creator, 'statements/1');
    const { text, digest, type } = await download(creator, 1);
    expect(type).toBe('text/csv; charset=utf-8');
    const sha256 = createHash('sha256').update(text);
    expect(body.csv).toEqual({ bytes: Buffer.byteLength(text), sha256: sha256.copy().digest('hex') });
    expect(digest).toBe(`sha-256=:${sha256.digest('base64')}:`);
    expect(text).toMatchInlineSnapshot(`
      "kind,order,human_order_id,item,occurred_at,release_group,ean,units,currency,revenue,vat,royalty,settlement_currency,settled_revenue,settled_vat,settled_royalty,rate_date,rate_from,rate_to
      sale,019a7f2e-a1b2-7c3d-8e4f-506172839405,ord_01k9zjx8djfgyrwktgc5s87505,019a7f2e-a1b3-7001-9a2b-3c4d5e6f7081,2026-01-15T08:00:00.123Z,019a7f2e-0c11-7d22-8e33-4f5566778899,2000000000015,2,GBP,4998,833,625,JPY,9728,1621,1217,2026-01-14,0.8345,162.43
      "
    `);
  });

  it('break off the download of a CSV file whose bytes are not those that were issued', async () => {
    const creator = await api.newCreator();
    await record(sale(creator, '2026-01-15T08:00:00.000Z'));
    await close('2026-01');
    await issueStatements(api.database, creator.id);
    await download(creator, 1);
    await api.database.transaction(async (tx) => {
      await tx.run(disableTriggers);
      await tx.run(changeDigest, [creator.id]);
    });
    await expect(download(creator, 1)).rejects.toThrow('aborted');
  });

  it('are downloaded by at most two requests at once, and one of an organisation', async () => {
    const downloadOf = async (organisation: string) => {
      const { id } = await api.newCreator({ organisation_id: organisation });
      await record(paid(anOrder(id), '2026-01-15T08:00:00.000Z'));
      return { organisation, path: `/api/v1/creators/${id}/statements/1/csv`, id };
    };
    const downloads = [
      await downloadOf('org_one'),
      await downloadOf('org_two'),
      await downloadOf('org_three'),
    ] as const;
    await close('2026-01');
    for (const { id } of downloads) await issueStatements(api.database, id);
    await expectDownloadLimits(api, lockLedger, downloads);
  });

  it('are numbered without gaps and duplicates by concurrent calls, and after a rollback', async () => {
    const creator = await api.newCreator();
    const months = ['2025-10', '2025-11', '2026-01', '2026-02'];
    await record(...months.map((month) => sale(creator, `${month}-15T08:00:00.000Z`)));
    await close('2026-02');
    const failure = new Error('Failed before the commit.');
    const failing = api.database.transaction(async (tx) => {
      await issueNext(tx, creator.id);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    const issued = await Promise.all(
      Array.from({ length: 4 }, () => issueStatements(api.database, creator.id)),
    );
    expect(issued.reduce((sum, count) => sum + count)).toBe(months.length);
    const { data } = await list(creator);
    expect(data.map(({ number, period }: { number: number; period: string }) => [number, period])).toEqual(
      months.map((month, index) => [index + 1, month]).toReversed(),
    );
  });

  it('are issued once for each creator when a month has closed, by two replicas concurrently', async () => {
    const creators = [await api.newCreator(), await api.newCreator(), await api.newCreator()];
    await record(...creators.map((creator) => sale(creator, '2026-01-15T08:00:00.000Z')));
    const replicas = [1, 2].map(() => new StatementIssuing(api.database, createLogger('test', 'silent')));
    const issueAll = () =>
      Promise.all(
        replicas.map(async (replica) => {
          let hasMore = true;
          while (hasMore) hasMore = await replica.issuePage();
        }),
      );
    await issueAll();
    for (const creator of creators) expect((await list(creator)).data).toEqual([]);
    await close('2026-02');
    await issueAll();
    for (const creator of creators) expect((await list(creator)).data).toMatchObject([{ number: 1 }]);
    // All statements of the months before March have been issued.
    expect(await api.database.row(readStatementsBefore)).toEqual({ statements_before: '2026-03' });
  });

  it.each([
    ['2', 404],
    ['0', 400],
    ['x', 400],
    ['1000001', 400],
  ])('respond to the unknown or invalid number %s with %i', async (number, status) => {
    const creator = await api.newCreator();
    expect((await get(creator, `statements/${number}`)).status).toBe(status);
    expect((await get(creator, `statements/${number}/csv`)).status).toBe(status);
  });
});
