import { executedGenericPlan, scratchDatabase } from '@fulfilment/database/testing';
import { readSellable } from '../catalogue/sellable-products.js';
import { migrations } from '../migrations/index.js';
import { claimNew } from './idempotency-keys.js';
import { readPricing } from './pricing/read-pricing.js';
import { readOrders } from './reading/read-orders.js';
import { settlePaidOrders } from './settling/settle-unchanged.js';

describe('the statements that concurrent requests share', () => {
  let scratch: Awaited<ReturnType<typeof scratchDatabase>>;
  beforeAll(async () => (scratch = await scratchDatabase(migrations)));
  afterAll(() => scratch.drop());

  // PostgreSQL keeps the plan while the tables grow, until it analyses them.
  it.each([claimNew, readPricing, readOrders, readSellable, settlePaidOrders])(
    'look rows up by an index even with a plan for empty tables: $name',
    async (statement) => {
      const nodes = await executedGenericPlan(scratch.database, statement, {});
      const types = new Set(nodes.map((node) => node['Node Type']));
      expect(types).not.toContain('Seq Scan');
      const scans = nodes.filter((node) => node['Index Name'] !== undefined);
      expect(scans).not.toEqual([]);
      expect(scans.filter((node) => node['Index Cond'] === undefined)).toEqual([]);
    },
  );
});
