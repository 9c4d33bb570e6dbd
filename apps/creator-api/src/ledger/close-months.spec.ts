import { type Message, messages, type OrderSnapshot } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import fc from 'fast-check';
import { aCreator, registrationMessage } from '../creators/creator-snapshot.fixture.js';
import { CreatorAndOrderConsumer } from '../consumers/creator-and-order.consumer.js';
import { migrations } from '../migrations/index.js';
import { anOrder, transitioned, orderMessage, paid } from '../orders/order-snapshot.fixture.js';
import { ReplayConsumer } from '../consumers/replay.consumer.js';
import {
  nextNumber,
  orderHistory,
  orderMessages,
  postAllWaiting,
  rates,
  expectConsistentRows,
  shuffle,
  truncateTables,
} from './ledger.fixture.js';
import { closeMonths } from './close-months.js';
import { LedgerPosting } from './ledger-posting.job.js';
import { loadRates } from '../exchange-rates/load-rates.js';
import { rebuildStatistics } from '../statistics/rebuild-statistics.js';

const january = '2026-01-20T10:00:00.000Z';
/** With close day 5, January 2026 is closed from this time on, and February is open. */
const closeOfJanuary = new Date('2026-02-05T00:00:00.000Z');

const sums = statement(
  'test.sums',
  `SELECT period, sum(units)::int AS units, sum(revenue)::int AS revenue FROM monthly_statistics
   WHERE creator_id = $1 GROUP BY 1 ORDER BY 1`,
);
const closedSums = statement(
  'test.closed-sums',
  `SELECT * FROM monthly_statistics WHERE period < $1 ORDER BY creator_id, period, currency, release_id, ean`,
);
// Postings in a month before their time, refunds in a month before their sale, and postings in a month after
// their time other than the first open month $1.
const misplacedPostings = statement(
  'test.misplaced',
  `SELECT l.item_id, l.kind FROM ledger l LEFT JOIN ledger s ON s.item_id = l.item_id AND s.kind = 'sale'
   WHERE (l.period < s.period AND l.occurred_at >= s.occurred_at) OR l.period < to_char(l.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM')
     OR (l.period > to_char(l.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM') AND l.period <> $1)`,
);
const readPosting = statement(
  'test.posting-of',
  'SELECT kind, period, occurred_at, units::int FROM ledger WHERE order_id = $1 ORDER BY kind DESC',
);
const reopenAll = statement('test.reopen-all', `UPDATE statistics_close SET first_open_month = '0001-01'`);
const firstOpen = statement('test.first-open', 'SELECT first_open_month FROM statistics_close');
const waitingForAdvisoryLock = statement(
  'test.waiting-for-advisory-lock',
  `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
);

describe('closed months of statistics', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  const consumer = new CreatorAndOrderConsumer({ scheduleCreators: () => undefined });
  const replayConsumer = new ReplayConsumer({ scheduleCreators: () => undefined });
  const creator = aCreator('org_a');

  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
  });
  afterAll(() => scratch.drop());
  beforeEach(async () => {
    await truncateTables(database);
    await database.run(reopenAll);
    await handle(registrationMessage(creator));
  });

  const handle = (...batch: Message[]) => database.transaction((tx) => consumer.handle(tx, batch));
  const handleReplay = (...orders: OrderSnapshot[]) =>
    database.transaction((tx) =>
      replayConsumer.handle(
        tx,
        orders.map((order) => messages.replayOrder.make({ order }, { occurredAt: new Date() })),
      ),
    );
  /** Sells the two pieces of `anOrder`, which cost 4998 together. */
  const sell = async (at: string, changes: Partial<OrderSnapshot> = {}) => {
    const order = paid(anOrder(creator.id, changes), at);
    await handle(orderMessage(order));
    return order;
  };
  const months = () => database.rows(sums, [creator.id]);
  const openMonth = async () =>
    (await database.row<{ first_open_month: string }>(firstOpen))?.first_open_month ?? '';

  it.each([
    ['2026-10', 5, '2026-11-04T23:59:59.999Z'],
    ['2026-11', 5, '2026-11-05T00:00:00.000Z'],
    ['2026-10', 1, '2026-10-31T23:59:59.999Z'],
    ['2026-11', 1, '2026-11-01T00:00:00.000Z'],
    ['2027-01', 28, '2027-02-27T23:59:59.999Z'],
    ['2027-02', 28, '2027-02-28T00:00:00.000Z'],
    ['2026-12', 10, '2027-01-01T00:00:00.000Z'],
  ])('are those before %s with close day %i at %s', async (firstOpenMonth, closeDay, now) => {
    expect(await closeMonths(database, { closeDay, now: new Date(now) })).toBe(firstOpenMonth);
    expect(await openMonth()).toBe(firstOpenMonth);
  });

  it('are closed by the clock of the database, and never with close day 0', async () => {
    expect(await closeMonths(database, { closeDay: 0 })).toBeUndefined();
    expect(await openMonth()).toBe('0001-01');
    const readThisMonth = statement(
      'test.this-month',
      `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month`,
    );
    const thisMonth = async () => (await database.row<{ month: string }>(readThisMonth))?.month;
    const before = await thisMonth();
    const closed = await closeMonths(database, { closeDay: 1 });
    expect([before, await thisMonth()]).toContain(closed); // a month may end during the test
  });

  it('are logged when they are closed at the start of the service', async () => {
    const lines: string[] = [];
    const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
    const posting = new LedgerPosting(database, { STATISTICS_CLOSE_DAY: 1 }, { owned: [] }, logger);
    await posting.start();
    await posting.stop();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      first_open_month: await openMonth(),
      message: 'Closed the months before first_open_month.',
    });
  });

  it('stay closed when the close day is raised or the clock goes back', async () => {
    await closeMonths(database, { closeDay: 5, now: closeOfJanuary });
    expect(await closeMonths(database, { closeDay: 28, now: closeOfJanuary })).toBeUndefined();
    expect(
      await closeMonths(database, { closeDay: 5, now: new Date('2025-06-06T00:00:00.000Z') }),
    ).toBeUndefined();
    expect(await openMonth()).toBe('2026-02');
  });

  it('exclude a late sale, which counts in the first open month and keeps its time', async () => {
    await sell(january);
    await closeMonths(database, { closeDay: 5, now: closeOfJanuary });
    const late = await sell('2026-01-31T23:59:59.999Z');
    expect(await months()).toEqual([
      { period: '2026-01', units: 2, revenue: 4998 },
      { period: '2026-02', units: 2, revenue: 4998 },
    ]);
    expect(await database.rows(readPosting, [late.id])).toEqual([
      { kind: 'sale', period: '2026-02', occurred_at: new Date('2026-01-31T23:59:59.999Z'), units: 2 },
    ]);
  });

  it('exclude a late refund, which counts in the first open month', async () => {
    const order = await sell(january);
    await closeMonths(database, { closeDay: 5, now: closeOfJanuary });
    await handle(orderMessage(transitioned(order, 'cancelled', '2026-01-21T00:00:00.000Z')));
    expect(await months()).toEqual([
      { period: '2026-01', units: 2, revenue: 4998 },
      { period: '2026-02', units: -2, revenue: -4998 },
    ]);
  });

  it('exclude a sale whose exchange rate is loaded later', async () => {
    await sell(january, { currency: 'JPY', country_code: 'JP' });
    await closeMonths(database, { closeDay: 5, now: closeOfJanuary });
    await loadRates(database, 'Date,USD,JPY,GBP\n2026-01-20,1,150,0.8\n');
    expect(await months()).toMatchObject([{ period: '2026-02', units: 2 }]);
  });

  it('are reproduced by a replay and by a rebuild of the sums, including late postings', async () => {
    const order = await sell(january);
    await closeMonths(database, { closeDay: 5, now: closeOfJanuary });
    const late = await sell(january);
    const before = await months();
    await handleReplay(order, late);
    expect(await rebuildStatistics(database)).toMatchObject({ differed: 0 });
    expect(await months()).toEqual(before);
    await truncateTables(database, { keepLedger: true });
    await handle(registrationMessage(creator));
    await handleReplay(late, order);
    await rebuildStatistics(database);
    expect(await months()).toEqual(before);
  });

  it('are closed only after concurrent postings have committed', async () => {
    let closing: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      await consumer.handle(tx, [orderMessage(paid(anOrder(creator.id), january))]);
      closing = closeMonths(database, { closeDay: 5, now: closeOfJanuary });
      await eventually(() => database.row(waitingForAdvisoryLock));
      expect(await openMonth()).toBe('0001-01');
    });
    await closing;
    expect(await months()).toMatchObject([{ period: '2026-01' }]);
    await sell(january);
    expect(await months()).toMatchObject([{ period: '2026-01' }, { period: '2026-02' }]);
  });

  it('never change, regardless of what arrives later and in which order', async () => {
    await loadRates(database, rates);
    await fc.assert(
      fc.asyncProperty(
        fc.array(orderHistory, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        async (histories, chance) => {
          await truncateTables(database);
          await database.run(reopenAll);
          const creators = [aCreator('org_a'), aCreator('org_a', { settlement_currency: 'JPY' })];
          const sentMessages = [
            ...creators.map(registrationMessage),
            ...histories.flatMap((history) => orderMessages(creators, history)),
          ];
          const shuffled = shuffle(sentMessages, chance);
          const inTimeCount = nextNumber(chance) % (shuffled.length + 1);
          for (const message of shuffled.slice(0, inTimeCount)) await handle(message);
          await closeMonths(database, { closeDay: 5, now: closeOfJanuary });
          const closed = await database.rows(closedSums, ['2026-02']);
          for (const message of [...shuffled.slice(inTimeCount), ...shuffled]) await handle(message);
          await postAllWaiting(database);
          await rebuildStatistics(database);
          expect(await database.rows(closedSums, ['2026-02'])).toEqual(closed);
          expect(await database.rows(misplacedPostings, ['2026-02'])).toEqual([]);
          await expectConsistentRows(database, creators);
        },
      ),
      { numRuns: 15 },
    );
  });
});
