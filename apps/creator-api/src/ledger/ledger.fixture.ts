import { type CreatorSnapshot, type Message, type OrderSnapshot } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import fc from 'fast-check';
import { anItem, anOrder, orderMessage, transitioned } from '../orders/order-snapshot.fixture.js';
import { postWaitingOrders } from './post-waiting-orders.js';

/** Exchange rates for the dates of `orderHistory`. */
export const rates =
  'Date,USD,JPY,GBP\n2026-01-14,1.0423,162.43,0.8345\n2026-01-30,1.1,170.01,0.81\n2026-02-02,1.07,165,0.79\n';

const orderedReleases = statement(
  'test.ordered_releases',
  'SELECT * FROM ordered_releases ORDER BY release_id',
);
const registrations = statement(
  'test.registrations',
  'SELECT * FROM creators WHERE id = ANY($1::uuid[]) ORDER BY id',
);
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
const monthSums = statement(
  'test.month_sums',
  `SELECT creator_id, period, currency, release_id, sum(units) AS units, sum(revenue) AS revenue, sum(royalties) AS royalties
   FROM monthly_statistics WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
);
const breakdownSums = ['monthly_breakdown', 'monthly_app_breakdown'].map((table) =>
  statement(
    `test.sums_of_${table}`,
    `SELECT creator_id, period, currency, release_id, sum(units) AS units, sum(revenue) AS revenue, sum(royalties) AS royalties
     FROM ${table} WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
  ),
);
const breakdown = statement(
  'test.breakdown',
  `SELECT * FROM monthly_breakdown WHERE creator_id = ANY($1::uuid[]) AND (units, revenue, royalties) <> (0, 0, 0)
   ORDER BY creator_id, currency, period, release_id, product_type, country_code, platform`,
);
const appBreakdown = statement(
  'test.app_breakdown',
  `SELECT * FROM monthly_app_breakdown WHERE creator_id = ANY($1::uuid[]) AND (units, revenue, royalties) <> (0, 0, 0)
   ORDER BY creator_id, currency, client_id, period, release_id, product_type, country_code, platform`,
);
const orders = statement(
  'test.orders',
  'SELECT * FROM orders WHERE creator_id = ANY($1::uuid[]) ORDER BY id',
);
const items = statement(
  'test.items',
  'SELECT * FROM order_items WHERE creator_id = ANY($1::uuid[]) ORDER BY order_id, position',
);
const wrongTotals = statement(
  'test.wrong_totals',
  `SELECT o.id FROM orders o JOIN order_items i ON i.order_id = o.id WHERE o.creator_id = ANY($1::uuid[]) GROUP BY o.id
   HAVING (o.gross_amount, o.royalty_amount, o.item_count) IS DISTINCT FROM
     (sum(i.total_amount)::bigint, sum(i.royalty_amount)::bigint, sum(i.quantity))`,
);
// An unpaid line has no posting, a paid one has one of its amount, and those of a refunded one add up to 0.
const wrongPostings = statement(
  'test.wrong_postings',
  `SELECT i.id FROM order_items i JOIN orders o ON o.id = i.order_id
   LEFT JOIN (SELECT item_id, sum(units) AS units, sum(revenue) AS revenue, sum(settled_royalty) AS settled, count(*) AS rows
     FROM ledger GROUP BY item_id) l ON l.item_id = i.id
   WHERE i.creator_id = ANY($1::uuid[]) AND CASE
     WHEN o.charged_at IS NULL THEN l.rows IS NOT NULL
     WHEN o.refunded_at IS NULL THEN (l.rows, l.units, l.revenue) IS DISTINCT FROM (1, i.quantity, i.total_amount)
     ELSE (l.rows, l.units, l.revenue, l.settled) IS DISTINCT FROM (2, 0, 0, 0) END`,
);
const storedCounts = statement(
  'test.stored_counts',
  `SELECT * FROM order_counts WHERE creator_id = ANY($1::uuid[]) AND orders <> 0 ORDER BY 1, 2, 3, 4`,
);
const countedOrders = statement(
  'test.counted_orders',
  `SELECT creator_id, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status, count(*) AS orders
   FROM orders WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
);
const storedCountsByApp = statement(
  'test.stored_counts_by_app',
  `SELECT * FROM order_counts_by_app WHERE creator_id = ANY($1::uuid[]) AND orders <> 0 ORDER BY 1, 2, 3, 4, 5`,
);
const countedOrdersByApp = statement(
  'test.counted_orders_by_app',
  `SELECT creator_id, client_id, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status, count(*) AS orders
   FROM orders WHERE creator_id = ANY($1::uuid[]) AND client_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
);
const waiting = statement('test.waiting', 'SELECT * FROM waiting_postings');
const truncateReadModels = statement(
  'test.truncate_read_models',
  'TRUNCATE creators, orders, order_items, ordered_releases, order_counts, order_counts_by_app, monthly_statistics, monthly_breakdown, monthly_app_breakdown, creator_apps, waiting_postings CASCADE',
);
const truncateLedger = [
  'ALTER TABLE ledger DISABLE TRIGGER append_only',
  'TRUNCATE ledger',
  'ALTER TABLE ledger ENABLE TRIGGER append_only',
].map((text, index) => statement(`test.truncate_ledger_${index}`, text));

const currency = fc.constantFrom('GBP', 'USD', 'EUR', 'JPY');
/** Times near the boundaries of January in UTC, to the millisecond. */
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
  { release_id: '0199a000-0000-7000-8000-000000000002', ean: null },
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

/** Returns the items in an order that `chance` decides. */
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
 * Expects that totals, sums and counts are those of the rows that they summarise. Returns the rows of these
 * creators, and all ordered releases.
 */
export async function readConsistentRows(database: Database, creators: readonly CreatorSnapshot[]) {
  const ids = [creators.map((creator) => creator.id)];
  const [
    creatorRows,
    ledgerRows,
    monthRows,
    orderRows,
    itemRows,
    counts,
    countsByApp,
    breakdownRows,
    appRows,
  ] = await Promise.all(
    [
      registrations,
      ledger,
      months,
      orders,
      items,
      storedCounts,
      storedCountsByApp,
      breakdown,
      appBreakdown,
    ].map((query) => database.rows(query, ids)),
  );
  expect(await database.rows(ledgerSums, ids)).toEqual(monthRows);
  for (const sums of breakdownSums)
    expect(await database.rows(sums, ids)).toEqual(await database.rows(monthSums, ids));
  expect(await database.rows(countedOrders, ids)).toEqual(counts);
  expect(await database.rows(countedOrdersByApp, ids)).toEqual(countsByApp);
  expect(await database.rows(wrongTotals, ids)).toEqual([]);
  expect(await database.rows(wrongPostings, ids)).toEqual([]);
  const releases = (await database.rows<{ release_id: string }>(orderedReleases)).map(
    ({ release_id }) => release_id,
  );
  return {
    releases,
    creatorRows,
    ledgerRows,
    monthRows,
    orderRows,
    itemRows,
    counts,
    breakdownRows,
    appRows,
  };
}

/** Truncates the read models, and the ledger too unless it is kept. */
export async function truncateTables(database: Database, { keepLedger = false } = {}): Promise<void> {
  const statements = keepLedger ? [truncateReadModels] : [truncateReadModels, ...truncateLedger];
  for (const truncate of statements) await database.run(truncate);
}
