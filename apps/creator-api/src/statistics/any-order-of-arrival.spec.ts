import type { CreatorSnapshot, Message, OrderSnapshot } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/testing';
import fc from 'fast-check';
import { aCreator, registered } from '../creators/creator-snapshot.fixture.js';
import { factsConsumer } from '../facts.consumer.js';
import { migrations } from '../migrations/index.js';
import { anItem, anOrder, moved, orderMessage } from '../orders/order-snapshot.fixture.js';
import { bookWaiting } from './book-waiting.js';
import { loadRates } from './load-rates.js';
import { rebuildStatistics } from './rebuild-statistics.js';

const rates =
  'Date,USD,JPY,GBP\n2026-01-14,1.0423,162.43,0.8345\n2026-01-30,1.1,170.01,0.81\n2026-02-02,1.07,165,0.79\n';

const ledger = statement(
  'test.ledger',
  `SELECT item_id, kind, order_id, creator_id, occurred_at, period, release_id, ean, units, currency, revenue, vat, royalty,
     settlement_currency, settled_revenue, settled_vat, settled_royalty, rate_date, rate_from, rate_to
   FROM ledger WHERE creator_id = ANY($1::uuid[]) ORDER BY item_id, kind`,
);
const months = statement(
  'test.months',
  `SELECT * FROM monthly_statistics WHERE creator_id = ANY($1::uuid[]) ORDER BY creator_id, period, currency, release_id, ean`,
);
const ledgerSums = statement(
  'test.ledger_sums',
  `SELECT creator_id, period, settlement_currency AS currency, release_id, ean, sum(units) AS units,
     sum(settled_revenue) AS revenue, sum(settled_royalty) AS royalties
   FROM ledger WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
);
const orders = statement(
  'test.orders',
  'SELECT * FROM orders WHERE creator_id = ANY($1::uuid[]) ORDER BY id',
);
const items = statement(
  'test.items',
  'SELECT * FROM order_items WHERE creator_id = ANY($1::uuid[]) ORDER BY order_id, position',
);
const keptCounts = statement(
  'test.kept_counts',
  `SELECT * FROM order_counts WHERE creator_id = ANY($1::uuid[]) AND orders <> 0 ORDER BY 1, 2, 3, 4`,
);
const trueCounts = statement(
  'test.true_counts',
  `SELECT creator_id, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status, count(*) AS orders
   FROM orders WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
);
const waiting = statement('test.waiting', 'SELECT * FROM waiting_bookings');
const forget = [
  'ALTER TABLE ledger DISABLE TRIGGER append_only',
  'TRUNCATE creators, orders, order_items, order_counts, ledger, monthly_statistics, waiting_bookings CASCADE',
  'ALTER TABLE ledger ENABLE TRIGGER append_only',
].map((text, index) => statement(`test.forget_${index}`, text));

const currency = fc.constantFrom('GBP', 'USD', 'EUR', 'JPY');
/** Near the edges of January, in milliseconds of UTC. */
const moment = fc.constantFrom(
  '2026-01-15T08:00:00.000Z',
  '2026-01-31T23:59:59.999Z',
  '2026-02-01T00:00:00.000Z',
  '2026-02-01T00:00:00.001Z',
  '2026-02-03T10:00:00.000Z',
);
const path = fc.constantFrom(
  [],
  ['payment_failed'],
  ['payment_failed', 'processing'],
  ['processing'],
  ['processing', 'cancelled'],
  ['processing', 'shipped'],
  ['processing', 'shipped', 'delivered'],
  ['payment_failed', 'cancelled'],
  ['payment_failed', 'processing', 'cancelled'],
) satisfies fc.Arbitrary<readonly Parameters<typeof moved>[1][]>;

const life = fc.record({
  creator: fc.nat(1),
  currency,
  country: fc.constantFrom('GB', 'DE', 'FI', 'US', 'JP'),
  path,
  moments: fc.array(moment, { minLength: 3, maxLength: 3 }),
  lines: fc.array(
    fc.record({
      quantity: fc.integer({ min: 1, max: 9 }),
      unit_amount: fc.nat(100_000),
      royalty_rate: fc.constantFrom(0, 1250, 1500, 10_000),
      release: fc.nat(2),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

const releases = [
  { release_id: '0199a000-0000-7000-8000-000000000001', ean: '2000000000015' },
  { release_id: '0199a000-0000-7000-8000-000000000002', ean: '2000000000022' },
  { release_id: '0199a000-0000-7000-8000-000000000002', ean: null },
] as const;

type Life = typeof life extends fc.Arbitrary<infer Value> ? Value : never;

function historyOf(creators: readonly CreatorSnapshot[], given: Life): Message[] {
  const creatorId = creators[given.creator]?.id ?? '';
  let order: OrderSnapshot = anOrder(creatorId, {
    currency: given.currency,
    country_code: given.country,
    items: given.lines.map(({ release, ...line }) => anItem({ ...line, ...releases[release] })),
  });
  const states = [order];
  for (const [step, status] of given.path.entries()) {
    order = moved(order, status, given.moments[step]);
    states.push(order);
  }
  return states.map(orderMessage);
}

describe('messages that come twice, late and in any order', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  const handle = factsConsumer(() => undefined).handle;

  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
    await loadRates(database, rates);
  });
  afterAll(() => scratch.drop());

  const take = (batch: readonly Message[]) => database.transaction((tx) => handle(tx, batch));
  const settle = async () => {
    while (await bookWaiting(database));
    expect(await database.rows(waiting)).toEqual([]);
  };
  const everything = async (creators: readonly CreatorSnapshot[]) => {
    const ids = [creators.map((creator) => creator.id)];
    const [rowsOfLedger, rowsOfMonths, rowsOfOrders, rowsOfItems, counts] = await Promise.all(
      [ledger, months, orders, items, keptCounts].map((query) => database.rows(query, ids)),
    );
    expect(await database.rows(ledgerSums, ids)).toEqual(rowsOfMonths);
    expect(await database.rows(trueCounts, ids)).toEqual(counts);
    return { rowsOfLedger, rowsOfMonths, rowsOfOrders, rowsOfItems, counts };
  };
  const clear = async () => {
    for (const step of forget) await database.run(step);
  };

  it('leave the same orders, the same ledger and the same statistics', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 12 }),
        async (lives, chance, batchSize) => {
          await clear();
          const creators = [
            aCreator('org_a', { settlement_currency: 'GBP' }),
            aCreator('org_a', { settlement_currency: 'JPY' }),
          ];
          const facts = [...creators.map(registered), ...lives.flatMap((each) => historyOf(creators, each))];
          for (const fact of facts) await take([fact]);
          await settle();
          const expected = await everything(creators);
          await clear();

          const ordinal = () => chance.next().value ?? 0;
          const twice = facts.flatMap((fact) => (ordinal() % 2 === 0 ? [fact, fact] : [fact]));
          const shuffled = twice
            .map((fact) => ({ fact, at: ordinal() }))
            .sort((one, other) => one.at - other.at)
            .map(({ fact }) => fact);
          for (let start = 0; start < shuffled.length; start += batchSize) {
            await take(shuffled.slice(start, start + batchSize));
          }
          await settle();
          expect(await everything(creators)).toEqual(expected);
          expect(await rebuildStatistics(database)).toEqual({
            rows: expected.rowsOfMonths?.length,
            differed: 0,
          });
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);

  it('leave the same when replicas take them at once', async () => {
    await clear();
    const creators = [aCreator('org_a'), aCreator('org_a', { settlement_currency: 'JPY' })];
    const lives = fc.sample(life, { numRuns: 60, seed: 7 });
    const facts = [...lives.flatMap((each) => historyOf(creators, each)), ...creators.map(registered)];
    for (const fact of facts) await take([fact]);
    await settle();
    const expected = await everything(creators);
    await clear();

    // Each replica has every message, in an order of its own; an order, a count or a month is never locked in two orders.
    const replicas = [facts, facts.toReversed(), [...facts.slice(90), ...facts.slice(0, 90)]];
    await Promise.all(
      replicas.map(async (share) => {
        for (let start = 0; start < share.length; start += 20) {
          await take(share.slice(start, start + 20));
          await bookWaiting(database);
        }
      }),
    );
    await settle();
    expect(await everything(creators)).toEqual(expected);
  }, 30_000);
});
