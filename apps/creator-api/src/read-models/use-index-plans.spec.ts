import type { CreatorSnapshot, OrderSnapshot } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { recordCreators } from '../creators/record-creators.js';
import { migrations } from '../migrations/index.js';
import { anOrder, paid, transitioned } from '../orders/order-snapshot.fixture.js';
import { projectOrders } from '../orders/project-orders.js';

const tables = [
  'orders',
  'order_items',
  'order_counts',
  'order_counts_by_app',
  'ordered_releases',
  'creators',
  'ledger',
  'waiting_postings',
  'monthly_statistics',
  'monthly_breakdown',
  'monthly_app_breakdown',
];
// Autovacuum would analyse the tables, after which PostgreSQL makes new plans for their new size.
const disableAutovacuum = tables.map((table) =>
  statement(`test.disable-autovacuum-of-${table}`, `ALTER TABLE ${table} SET (autovacuum_enabled = off)`),
);
const countRowsRead = statement(
  'test.count-rows-read',
  `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
   WHERE relname = ANY($1::text[])`,
);

describe('the projection of orders with useIndexPlans', () => {
  let scratch: ScratchDatabase;
  let creators: CreatorSnapshot[];
  beforeEach(async () => {
    // With one connection, all batches use the plans of the first batch.
    scratch = await scratchDatabase(migrations, { poolSize: 1 });
    for (const disable of disableAutovacuum) await scratch.database.run(disable);
    creators = Array.from({ length: 200 }, () => aCreator('org_a'));
    await scratch.database.transaction((tx) => recordCreators(tx, creators));
  });
  afterEach(() => scratch.drop());

  const newOrders = (count: number): OrderSnapshot[] =>
    Array.from({ length: count }, (_, index) => anOrder(creators[index % creators.length]?.id ?? ''));
  const cancelled = (order: OrderSnapshot) => transitioned(paid(order), 'cancelled');

  /** Places, pays and refunds orders. Returns how many stored rows each of these batches reads. */
  async function projectAll(orders: readonly OrderSnapshot[]) {
    return {
      placed: await rowsReadBy(orders),
      paid: await rowsReadBy(orders.map((order) => paid(order))),
      refunded: await rowsReadBy(orders.map(cancelled)),
    };
  }

  async function rowsReadBy(snapshots: readonly OrderSnapshot[]): Promise<number> {
    return scratch.database.transaction(async (tx) => {
      // Subtracted, since PostgreSQL may still count the rows of earlier transactions.
      const rowsBefore = await readRowCount(tx);
      await projectOrders(tx, snapshots);
      return (await readRowCount(tx)) - rowsBefore;
    });
  }

  async function readRowCount(tx: Transaction): Promise<number> {
    return (await tx.row<{ rows: number }>(countRowsRead, [tables]))?.rows ?? NaN;
  }

  it('reads at most 10 rows more per batch after its tables have grown from empty', async () => {
    const first = await projectAll(newOrders(10));
    await projectAll(newOrders(500));

    const grown = await projectAll(newOrders(10));

    // With plans for empty tables, ten payments read about 500 rows more (ADR 3).
    expect(grown.placed).toBeLessThanOrEqual(first.placed + 10);
    expect(grown.paid).toBeLessThanOrEqual(first.paid + 10);
    expect(grown.refunded).toBeLessThanOrEqual(first.refunded + 10);
  });
});
