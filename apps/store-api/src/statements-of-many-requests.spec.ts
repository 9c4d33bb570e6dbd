import { statement } from '@fulfilment/database';
import { executedGenericPlan, scratchDatabase } from '@fulfilment/database/testing';
import { listPages } from './catalogue/reading/release-statements.js';
import { readSellable } from './catalogue/sellable-products.js';
import { migrations } from './migrations/index.js';
import { claimNew } from './orders/idempotency-keys.js';
import { readPricing } from './orders/pricing/read-pricing.js';
import { readOrders } from './orders/reading/read-orders.js';
import { settlePaidOrders } from './orders/settling/settle-unchanged.js';

const countCustomPlans = statement(
  'test.count-custom-plans',
  'SELECT custom_plans::int AS custom FROM pg_prepared_statements WHERE name = $1',
);

describe('the statements that concurrent requests share', () => {
  let scratch: Awaited<ReturnType<typeof scratchDatabase>>;
  beforeAll(async () => (scratch = await scratchDatabase(migrations)));
  afterAll(() => scratch.drop());

  const statements = [claimNew, listPages, readPricing, readOrders, readSellable, settlePaidOrders];

  // PostgreSQL plans the first five executions of any prepared statement.
  it.each(statements)('are not planned at each execution: $name', async (shared) => {
    // The parameters of all these statements; each statement takes only its own.
    const values = { requested: '[]', paid: '[]', lease_ms: 1, statuses_before: ['pending'] };
    const plans = await scratch.database.transaction(async (tx) => {
      for (let execution = 0; execution < 8; execution += 1) await tx.run(shared, values);
      return tx.row<{ custom: number }>(countCustomPlans, [shared.name]);
    });
    expect(plans).toEqual({ custom: 5 });
  });

  // PostgreSQL keeps the plan while the tables grow, until it analyses them.
  it.each(statements)('look rows up by an index even with a plan for empty tables: $name', async (shared) => {
    const nodes = await executedGenericPlan(scratch.database, shared, {});
    const types = new Set(nodes.map((node) => node['Node Type']));
    expect(types).not.toContain('Seq Scan');
    const scans = nodes.filter((node) => node['Index Name'] !== undefined);
    expect(scans).not.toEqual([]);
    expect(scans.filter((node) => node['Index Cond'] === undefined)).toEqual([]);
  });
});
