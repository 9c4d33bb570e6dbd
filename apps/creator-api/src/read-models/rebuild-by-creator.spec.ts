import { type CreatorSnapshot, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase, untilLockWaits } from '@fulfilment/database/testing';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { recordCreators } from '../creators/record-creators.js';
import { migrations } from '../migrations/index.js';
import { anItem, anOrder, paid } from '../orders/order-snapshot.fixture.js';
import { projectOrders } from '../orders/project-orders.js';
import { rebuildCounts } from '../orders/rebuild-counts.js';
import { expectConsistentRows, truncateTables } from '../ledger/ledger.fixture.js';
import { rebuildStatistics } from '../statistics/rebuild-statistics.js';

const damageSums = [
  'UPDATE monthly_statistics SET units = units + 5, revenue = revenue - 7',
  'UPDATE order_counts SET orders = orders + 3',
  `INSERT INTO monthly_statistics SELECT creator_id, '1999-12', currency, release_id, ean, 1, 1, 1 FROM monthly_statistics LIMIT 1`,
  `INSERT INTO order_counts SELECT creator_id, '1999-12-31', payment_status, dispatch_status, 4 FROM order_counts LIMIT 1`,
].map((text, index) => statement(`test.damage-${index}`, text));
const connectOrdersToApp = statement('test.connect-orders', `UPDATE orders SET client_id = 'app'`);
const lockMonths = statement(
  'test.lock-months',
  'SELECT 1 FROM monthly_statistics WHERE creator_id = $1 FOR UPDATE',
);

describe('sums that are rebuilt', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let creators: CreatorSnapshot[];
  const releaseId = uuidv7();
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
  });
  afterAll(() => scratch.drop());
  beforeEach(async () => {
    await truncateTables(database);
    creators = Array.from({ length: 250 }, () => aCreator('org_a')); // three slices of at most 100
    await database.transaction((tx) => recordCreators(tx, creators));
    await database.transaction((tx) =>
      projectOrders(
        tx,
        creators.map((creator) => paidOrder(creator)),
      ),
    );
  });

  const paidOrder = (creator: CreatorSnapshot | undefined, at?: string) => {
    const items = [anItem({ release_id: releaseId })];
    return paid(anOrder(creator?.id ?? '', { items }), at);
  };
  const sell = (creator: CreatorSnapshot | undefined, at?: string) =>
    database.transaction((tx) => projectOrders(tx, [paidOrder(creator, at)]));

  it('are exact for every creator, and the rebuild returns how many differed', async () => {
    for (const damage of damageSums) await database.run(damage);
    // All sums of 250 creators, and a row that should not exist.
    expect(await rebuildStatistics(database)).toEqual({ rows: 250, differed: 251 });
    expect(await rebuildCounts(database)).toEqual({ rows: 250, differed: 251 });
    await expectConsistentRows(database, creators);
    expect(await rebuildStatistics(database)).toEqual({ rows: 250, differed: 0 });
    expect(await rebuildCounts(database)).toEqual({ rows: 250, differed: 0 });
  });

  it('include the order counts by app', async () => {
    await database.run(connectOrdersToApp);
    // A count of each creator, and one of its app, which was missing.
    expect(await rebuildCounts(database)).toEqual({ rows: 500, differed: 250 });
    await expectConsistentRows(database, creators);
  });

  it('are exact after concurrent rebuilds and postings of the same creators', async () => {
    for (const damage of damageSums) await database.run(damage);
    const postings = (async () => {
      for (const creator of creators.slice(0, 80)) await Promise.all([sell(creator), sell(creator)]);
    })();
    await Promise.all([
      postings,
      rebuildStatistics(database),
      rebuildStatistics(database),
      rebuildCounts(database),
      rebuildCounts(database),
    ]);
    await expectConsistentRows(database, creators);
    expect(await rebuildStatistics(database)).toMatchObject({ differed: 0 });
  });

  it('do not block postings to other sums while they are corrected, even of the same creators', async () => {
    const [first, second] = creators;
    for (const damage of damageSums) await database.run(damage);
    let rebuilding: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      await tx.rows(lockMonths, [first?.id]);
      rebuilding = rebuildStatistics(database);
      await untilLockWaits(database); // the rebuild waits within its slice
      // In another month: this transaction has locked the sums of `first` in March, and the rebuild may have
      // locked the sums of `second` in March.
      await sell(second, '2026-08-08T00:00:00.000Z');
      await sell(first, '2026-08-08T00:00:00.000Z');
      await sell(creators.at(-1)); // in a later slice, of which nothing is locked yet
    });
    await rebuilding;
    await rebuildCounts(database);
    await expectConsistentRows(database, creators);
  });
});
