import { type CreatorSnapshot, type Message, type OrderSnapshot } from '@fulfilment/contracts';
import { type Database, type Statement, statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import fc from 'fast-check';
import { appCountKey, countKey } from '../orders/order-columns.sql.js';
import { anItem, anOrder, orderMessage, transitioned } from '../orders/order-snapshot.fixture.js';
import { appBreakdownKey, breakdownKey, monthKey } from './ledger-sums.sql.js';
import { postWaitingOrders } from './post-waiting-orders.js';

/** Exchange rates for the dates of `orderHistory`. */
export const rates =
  'Date,USD,JPY,GBP\n2026-01-14,1.0423,162.43,0.8345\n2026-01-30,1.1,170.01,0.81\n2026-02-02,1.07,165,0.79\n';

const matchesCreators = 'creator_id = ANY($1::uuid[])';
const rowsOf = (table: string, key: string, condition = 'true') =>
  statement(
    `test.rows-of-${table}`,
    `SELECT * FROM ${table} WHERE ${matchesCreators} AND ${condition} ORDER BY ${key}`,
  );
const notZero = '(units, revenue, royalties) <> (0, 0, 0)';
const storedRows = {
  creatorRows: statement('test.creators', 'SELECT * FROM creators WHERE id = ANY($1::uuid[]) ORDER BY id'),
  ledgerRows: statement(
    'test.ledger',
    `SELECT to_jsonb(ledger) - 'posted_at' AS posting FROM ledger WHERE ${matchesCreators} ORDER BY item_id, kind`,
  ),
  monthRows: rowsOf('monthly_statistics', monthKey),
  breakdownRows: rowsOf('monthly_breakdown', breakdownKey, notZero),
  appRows: rowsOf('monthly_app_breakdown', appBreakdownKey, notZero),
  orderRows: rowsOf('orders', 'id'),
  itemRows: rowsOf('order_items', 'order_id, position'),
  // A count that has become 0 keeps its row.
  counts: rowsOf('order_counts', countKey, 'orders <> 0'),
  countsByApp: rowsOf('order_counts_by_app', appCountKey, 'orders <> 0'),
};
// Without `creator_id`: generated creators share releases, and the order that arrives first decides which
// creator is stored.
const releaseIds = statement('test.releases', 'SELECT release_id FROM ordered_releases ORDER BY release_id');
const ledgerSums = statement(
  'test.ledger-sums',
  `SELECT creator_id, period, settlement_currency AS currency, release_id, ean, sum(units) AS units,
     sum(settled_revenue) AS revenue, sum(settled_royalty) AS royalties
   FROM ledger WHERE ${matchesCreators} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
);
const sumsOf = (table: string) =>
  statement(
    `test.sums-of-${table}`,
    `SELECT creator_id, period, currency, release_id, sum(units) AS units, sum(revenue) AS revenue, sum(royalties) AS royalties
     FROM ${table} WHERE ${matchesCreators} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
  );
const monthSums = sumsOf('monthly_statistics');
const breakdownSums = ['monthly_breakdown', 'monthly_app_breakdown'].map(sumsOf);
const countedOrders = (name: string, key: string, condition = 'true') =>
  statement(
    `test.${name}`,
    `SELECT ${key}, count(*) AS orders FROM (SELECT *, (placed_at AT TIME ZONE 'UTC')::date AS placed_on FROM orders) o
     WHERE ${matchesCreators} AND ${condition} GROUP BY ${key} ORDER BY ${key}`,
  );
const counted = countedOrders('counted', countKey);
const countedByApp = countedOrders('counted-by-app', appCountKey, 'client_id IS NOT NULL');
const wrongTotals = statement(
  'test.wrong-totals',
  `SELECT o.id FROM orders o JOIN order_items i ON i.order_id = o.id WHERE o.${matchesCreators} GROUP BY o.id
   HAVING (o.gross_amount, o.royalty_amount, o.item_count) IS DISTINCT FROM
     (sum(i.total_amount)::bigint, sum(i.royalty_amount)::bigint, sum(i.quantity))`,
);
// An unpaid line has no posting, a paid line has one posting of its amount, and a refunded line has two
// postings that add up to 0.
const wrongPostings = statement(
  'test.wrong-postings',
  `SELECT i.id FROM order_items i JOIN orders o ON o.id = i.order_id
   LEFT JOIN (SELECT item_id, sum(units) AS units, sum(revenue) AS revenue, sum(settled_royalty) AS settled, count(*) AS rows
     FROM ledger GROUP BY item_id) l ON l.item_id = i.id
   WHERE i.${matchesCreators} AND CASE
     WHEN o.charged_at IS NULL THEN l.rows IS NOT NULL
     WHEN o.refunded_at IS NULL THEN (l.rows, l.units, l.revenue) IS DISTINCT FROM (1, i.quantity, i.total_amount)
     ELSE (l.rows, l.units, l.revenue, l.settled) IS DISTINCT FROM (2, 0, 0, 0) END`,
);
const waiting = statement('test.waiting', 'SELECT * FROM waiting_postings');
const truncateReadModels = statement(
  'test.truncate-read-models',
  'TRUNCATE creators, orders, order_items, ordered_releases, order_counts, order_counts_by_app, monthly_statistics, monthly_breakdown, monthly_app_breakdown, creator_apps, waiting_postings CASCADE',
);
const truncateLedger = [
  'ALTER TABLE ledger DISABLE TRIGGER append_only',
  'TRUNCATE ledger',
  'ALTER TABLE ledger ENABLE TRIGGER append_only',
].map((text, index) => statement(`test.truncate-ledger-${index}`, text));

const currency = fc.constantFrom('GBP', 'USD', 'EUR', 'JPY');
/** Times before and after the end of January in UTC, three of them within a millisecond of it. */
const moment = fc.constantFrom(
  '2026-01-15T08:00:00.000Z',
  '2026-01-31T23:59:59.999Z',
  '2026-02-01T00:00:00.000Z',
  '2026-02-01T00:00:00.001Z',
  '2026-02-03T10:00:00.000Z',
);
/** The statuses that an order has after `pending`, in order. */
const laterStatuses = fc.constantFrom(
  [],
  ['payment_failed'],
  ['payment_failed', 'processing'],
  ['processing'],
  ['processing', 'cancelled'],
  ['processing', 'shipped'],
  ['processing', 'shipped', 'delivered'],
  ['payment_failed', 'cancelled'],
  ['payment_failed', 'processing', 'cancelled'],
) satisfies fc.Arbitrary<readonly Parameters<typeof transitioned>[1][]>;

/** Generates the history of an order: how it was placed, and its transitions. */
export const orderHistory = fc.record({
  /** Index of one of two creators. */
  creator: fc.nat(1),
  currency,
  country: fc.constantFrom('GB', 'DE', 'FI', 'US', 'JP'),
  platform: fc.constantFrom('api', 'shopify'),
  app: fc.constantFrom('app_one', 'app_two'),
  laterStatuses,
  /** Time of each transition. */
  moments: fc.array(moment, { minLength: 3, maxLength: 3 }),
  lines: fc.array(
    fc.record({
      quantity: fc.integer({ min: 1, max: 9 }),
      unit_amount: fc.nat(100_000),
      royalty_rate: fc.constantFrom(0, 1250, 1500, 10_000),
      product_type: fc.constantFrom('vinyl_12_lp', 'cassette'),
      /** Index in `releases`. */
      release: fc.nat(2),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

const releases = [
  { release_id: '0199a000-0000-7000-8000-000000000001', ean: '2000000000015' },
  { release_id: '0199a000-0000-7000-8000-000000000002', ean: '2000000000022' },
  { release_id: '0199a000-0000-7000-8000-000000000002', ean: null }, // the same release without an EAN
] as const;

type OrderHistory = typeof orderHistory extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns a snapshot of the order for each of its statuses, in order. */
export function orderStates(creators: readonly CreatorSnapshot[], history: OrderHistory): OrderSnapshot[] {
  const creatorId = creators[history.creator]?.id ?? '';
  let order: OrderSnapshot = anOrder(creatorId, {
    currency: history.currency,
    country_code: history.country,
    client_id: history.app,
    source: { platform: history.platform, store_id: 'shop', external_order_id: '1' },
    items: history.lines.map(({ release, ...line }) => anItem({ ...line, ...releases[release] })),
  });
  const states = [order];
  for (const [step, status] of history.laterStatuses.entries()) {
    order = transitioned(order, status, history.moments[step]);
    states.push(order);
  }
  return states;
}

export function orderMessages(creators: readonly CreatorSnapshot[], history: OrderHistory): Message[] {
  return orderStates(creators, history).map(orderMessage);
}

/** Returns the items in a random order, which `chance` determines. */
export function shuffle<Item>(items: readonly Item[], chance: Iterator<number>): Item[] {
  const ranked = items.map((item) => ({ item, rank: nextNumber(chance) }));
  return ranked.sort((one, other) => one.rank - other.rank).map(({ item }) => item);
}

export function nextNumber(chance: Iterator<number>): number {
  return Number(chance.next().value ?? 0);
}

/** Posts waiting orders until none is left. Repeats it for orders that other transactions have locked. */
export async function postAllWaiting(database: Database): Promise<void> {
  await eventually(async () => {
    await postWaitingOrders(database);
    return (await database.rows(waiting)).length === 0;
  });
}

/**
 * Expects that totals, sums and counts agree with the rows that they summarise. Returns the rows of these
 * creators, and the ids of all ordered releases.
 */
export async function expectConsistentRows(database: Database, creators: readonly CreatorSnapshot[]) {
  const read = (query: Statement) => database.rows(query, [creators.map((creator) => creator.id)]);
  const entries = Object.entries(storedRows).map(async ([name, query]) => [name, await read(query)] as const);
  const rows: Partial<Record<string, unknown[]>> = Object.fromEntries(await Promise.all(entries));
  expect(await read(ledgerSums)).toEqual(rows['monthRows']);
  for (const sums of breakdownSums) expect(await read(sums)).toEqual(await read(monthSums));
  expect(await read(counted)).toEqual(rows['counts']);
  expect(await read(countedByApp)).toEqual(rows['countsByApp']);
  expect(await read(wrongTotals)).toEqual([]);
  expect(await read(wrongPostings)).toEqual([]);
  rows['releases'] = await database.rows(releaseIds);
  return rows;
}

/** Truncates the read models, and the ledger too unless it is kept. */
export async function truncateTables(database: Database, { keepLedger = false } = {}): Promise<void> {
  const statements = keepLedger ? [truncateReadModels] : [truncateReadModels, ...truncateLedger];
  for (const truncate of statements) await database.run(truncate);
}
