import { createDataSource, Database, statement } from '@fulfilment/database';
import { readPlan } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { webhookReceiver } from '@fulfilment/testing';
import { dayFromNow } from '../due-deliveries.fixture.js';
import { createDayPartitions } from '../history/day-partitions.js';
import { migrations } from '../migrations/index.js';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  haveStatuses,
  webhookStores,
} from '../webhook-worker.fixture.js';

const readCustomPlans = statement(
  'test.read-custom-plans',
  "SELECT name, custom_plans AS custom FROM pg_prepared_statements WHERE name NOT LIKE 'test.%' AND custom_plans > 0",
);
const [today, id] = [dayFromNow(0), '00000000-0000-0000-0000-000000000000'];
const unpartitioned = new Set(['webhook_subscriptions', 'webhook_access_revocations']);
/** Statements that the service has prepared, with values for their parameters in order; the day is today. */
const parameters = {
  'deliveries.claim': `'{${id}}', '{8}', '{0}', '{8}', '{null}', '{0}', '${today}', '${today}', '${id}', 1000`,
  'deliveries.settle': `'{${today}}', '{${id}}', '{${id}}', '{auto}', '{succeeded}', '{null}', '{null}', '{1}', '{f}',
    '{succeeded}', '{204}', '{1}', '{null}', '{null}', '{f}', '${today}', '${today}'`,
} as const;

describe('the statements of a delivery', () => {
  it('are planned once, and open only the partitions of its day', async () => {
    const stores = await webhookStores();
    const receiver = await webhookReceiver();
    const source = createDataSource({
      url: stores.url,
      poolSize: 1,
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
      for (const [name, values] of Object.entries(parameters)) {
        const text = `EXPLAIN (FORMAT JSON) EXECUTE "${name}"(${values})`;
        const nodes = await readPlan(database, { name: '', text });
        const tables = nodes.flatMap((node) =>
          node['Node Type'] === 'ModifyTable' ? [] : (node['Relation Name'] ?? []),
        );
        const partitions = tables.filter((table) => !unpartitioned.has(table));
        expect(partitions).toContain(`webhook_deliveries_${partition}`);
        expect(partitions.filter((table) => !table.endsWith(partition))).toEqual([]);
      }
    } finally {
      await worker.stop();
      await source.destroy();
      await receiver.stop();
      await stores.stop();
    }
  });
});
