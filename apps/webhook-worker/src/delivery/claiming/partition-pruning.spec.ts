import { createDataSource, Database, statement } from '@fulfilment/database';
import { patientTimeouts, readPlan } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { webhookReceiver } from '@fulfilment/testing';
import { dayFromNow } from '../../test/due-deliveries.fixture.js';
import { createDayPartitions } from '../../maintenance/day-partitions.js';
import { migrations } from '../../migrations/index.js';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  haveStatuses,
  webhookStores,
} from '../../test/webhook-worker.fixture.js';

const readCustomPlans = statement(
  'test.read-custom-plans',
  "SELECT name, custom_plans AS custom FROM pg_prepared_statements WHERE name NOT LIKE 'test.%' AND custom_plans > 0",
);
const readDeliveryStatements = statement(
  'test.read-delivery-statements',
  `SELECT name, parameter_types::text[] AS types FROM pg_prepared_statements
   WHERE name IN ('deliveries.claim', 'deliveries.settle')`,
);
const today = dayFromNow(0);
const unpartitioned = new Set(['webhook_subscriptions', 'webhook_access_revocations']);

describe('the statements of a delivery', () => {
  it('are planned once, open only the partitions of its day, and look rows up by an id', async () => {
    const stores = await webhookStores();
    const receiver = await webhookReceiver();
    const source = createDataSource({
      url: stores.url,
      poolSize: 1, // PostgreSQL shows a connection only its own prepared statements
      ...patientTimeouts,
      applicationName: 'test',
      forceGenericPlan: true,
      migrations,
    });
    await source.initialize();
    const database = new Database(source);
    await createDayPartitions(database, createLogger('test', 'silent'));
    const parts = { database, background: database, delivery: database };
    const worker = await startWorker(stores, {}, parts);
    try {
      const { creatorId, subscribe } = await aClient(stores, worker);
      await subscribe(receiver.url);
      await stores.broker.publish(orderCreated(creatorId));
      await deliveriesWhen(stores, haveStatuses('succeeded'));
      expect(await database.rows(readCustomPlans)).toEqual([]);
      const partition = today.replaceAll('-', '_');
      const prepared = await database.rows<{ name: string; types: string[] }>(readDeliveryStatements);
      expect(prepared).toHaveLength(2);
      for (const { name, types } of prepared) {
        // Only the days determine the partitions.
        const values = types.map((type) => (type === 'date' ? `'${today}'` : 'NULL'));
        const text = `EXPLAIN (FORMAT JSON) EXECUTE "${name}"(${values.join(', ')})`;
        const nodes = await readPlan(database, { name: '', text });
        // ModifyTable names the partitioned table itself; its scans name the partitions.
        const tables = nodes.flatMap((node) =>
          node['Node Type'] === 'ModifyTable' ? [] : (node['Relation Name'] ?? []),
        );
        const partitions = tables.filter((table) => !unpartitioned.has(table));
        expect(partitions).toContain(`webhook_deliveries_${partition}`);
        expect(partitions.filter((table) => !table.endsWith(partition))).toEqual([]);
        // PostgreSQL names the indexes of partitions, and only these end with idx.
        const scans = nodes.filter((node) => node['Index Name']?.endsWith('idx'));
        const conditions = scans.map((node) => node['Index Cond']);
        expect(conditions.filter((condition) => !/\b(subscription_)?id = /.test(condition ?? ''))).toEqual(
          [],
        );
      }
    } finally {
      await worker.stop();
      await source.destroy();
      await receiver.stop();
      await stores.stop();
    }
  });
});
