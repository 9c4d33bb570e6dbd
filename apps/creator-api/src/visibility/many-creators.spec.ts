import { type Database, type Statement, statement, ReadDatabase, type Values } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { countCreators, readCreators } from '../creators/list-creators.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { recordCreators } from '../creators/record-creators.js';
import { migrations } from '../migrations/index.js';
import { anOrder, paid } from '../orders/order-snapshot.fixture.js';
import { ordersOfAllApps } from '../orders/list-orders.js';
import { projectOrders } from '../orders/project-orders.js';
import { monthTotals } from '../statistics/read-statistics.js';
import { aMember, globalAdmin } from './caller.fixture.js';
import { countPagesRead } from '../test/pages-read.fixture.js';
import { selectCreator } from './select-creator.js';
import { Visibility } from './visibility.js';

const addCreators = statement(
  'test.add-creators',
  `INSERT INTO creators (id, version, organisation_id, settlement_currency, registered_at)
   SELECT gen_random_uuid(), 1, $1, 'GBP', '2026-01-01T12:00:00Z'::timestamptz + (n % 300) * interval '1 day'
   FROM generate_series(1, $2) n`,
);
const analyse = statement('test.analyse', 'ANALYZE');
const addBreakdown = statement(
  'test.add-breakdown',
  `INSERT INTO monthly_breakdown SELECT $1, 'GBP', '2026-01', lpad(to_hex(n), 32, '0')::uuid, 'cassette', 'GB', 'api', 1, 1, 1 FROM generate_series(1, 3000) n`,
);
const sumBreakdown = statement(
  'test.sum-breakdown',
  'SELECT sum(units) FROM monthly_breakdown WHERE creator_id = $1',
);
const countedCreators = statement(
  'test.counted-creators',
  `SELECT organisation_id, (registered_at AT TIME ZONE 'UTC')::date::text AS day, count(*) AS creators FROM creators GROUP BY 1, 2
   UNION ALL SELECT '', (registered_at AT TIME ZONE 'UTC')::date::text, count(*) FROM creators GROUP BY 1, 2 ORDER BY 1, 2`,
);
const storedCounts = statement(
  'test.stored-counts',
  `SELECT organisation_id, registered_on::text AS day, creators FROM creator_counts WHERE creators <> 0 ORDER BY 1, 2`,
);

describe('a database with many creators', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  const creator = aCreator('org_harbour', { registered_at: '2026-11-01T12:00:00.000Z' });
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
    const orders = Array.from({ length: 30 }, () => paid(anOrder(creator.id)));
    await database.transaction(async (tx) => {
      await recordCreators(tx, [creator]);
      await projectOrders(tx, orders);
    });
  });
  afterAll(() => scratch.drop());

  /** Number of pages that a statement reads with the caller's role, after the creator was `selected`. */
  const countPagesReadBy = (
    caller: Caller,
    measured: Statement,
    values: Values = [],
    { selected }: { readonly selected?: string } = {},
  ) =>
    new Visibility(database, new ReadDatabase(database)).transaction(caller, async (tx) => {
      if (selected !== undefined) await selectCreator(tx, selected);
      return countPagesRead(tx, measured, values);
    });
  /** Values of `readCreators` for a page of 25. */
  const pageAfter = (skipped: number) => [25, skipped];
  const measureAll = async (): Promise<Record<string, number>> => {
    await database.run(analyse);
    const filters = { creator: creator.id, status: null, from: '-infinity', to: 'infinity' };
    return {
      orders: await countPagesReadBy(aMember, ordersOfAllApps.page, { ...filters, limit: 25, skip: 0 }),
      count: await countPagesReadBy(aMember, ordersOfAllApps.count, filters),
      month: await countPagesReadBy(aMember, monthTotals, [creator.id, '2026-03']),
      creators: await countPagesReadBy(aMember, countCreators),
      page: await countPagesReadBy(aMember, readCreators, pageAfter(0)),
      allCreators: await countPagesReadBy(globalAdmin, countCreators),
      deepPage: await countPagesReadBy(globalAdmin, readCreators, pageAfter(290)),
    };
  };

  it('needs at most twice as many page reads as with few creators, plus 150', async () => {
    await database.run(addCreators, ['org_harbour', 300]);
    const few = await measureAll();
    for (let added = 0; added < 30_000; added += 6_000)
      await database.run(addCreators, ['org_harbour', 6_000]);
    const many = await measureAll();
    // A day has a hundred times as many creators. A scan of all creators would read more than 500 pages.
    const isBounded = (name: string, pages: number) => pages <= 2 * (few[name] ?? 0) + 150;
    expect(Object.entries(many).filter(([name, pages]) => !isBounded(name, pages))).toEqual([]);
  });

  it('needs few page reads for the last page of a global admin', async () => {
    // The test above has added 30300 creators, so there are 30301, registered on 301 days. A scan up to the
    // page would touch more than 30000 index entries and rows.
    expect(await countPagesReadBy(globalAdmin, readCreators, pageAfter(30_000))).toBeLessThan(700);
  });

  it('needs fewer page reads for the rows of a creator after `selectCreator`', async () => {
    await database.run(addBreakdown, [creator.id]);
    await database.run(analyse);
    const checkingEachRow = await countPagesReadBy(aMember, sumBreakdown, [creator.id]);
    const checkingOnce = await countPagesReadBy(aMember, sumBreakdown, [creator.id], {
      selected: creator.id,
    });
    expect(checkingEachRow).toBeGreaterThan(3000);
    expect(checkingOnce).toBeLessThan(500);
  });

  it('has counts that follow registrations, changes of the organisation and deletions', async () => {
    const moved = aCreator('org_a', { registered_at: '2026-02-02T00:00:00.000Z' });
    const record = (changes: Partial<typeof moved>) =>
      database.transaction((tx) => recordCreators(tx, [{ ...moved, ...changes }]));
    await record({});
    await record({ version: 2, organisation_id: 'org_b' });
    await record({ version: 1, organisation_id: 'org_c' });
    await record({ version: 3, organisation_id: 'org_b', registered_at: '2026-02-01T23:59:59.999Z' });
    expect(await database.rows(storedCounts)).toEqual(await database.rows(countedCreators));
    await database.run(statement('test.delete', 'DELETE FROM creators WHERE id = $1'), [moved.id]);
    expect(await database.rows(storedCounts)).toEqual(await database.rows(countedCreators));
  });
});
