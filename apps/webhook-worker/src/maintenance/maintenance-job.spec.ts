import { uuidv7 } from '@fulfilment/contracts';
import { jest } from '@jest/globals';
import { dayPartition, partitionsOf, statement } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { createLogger } from '@fulfilment/runtime';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { dayFromNow } from '../test/due-deliveries.fixture.js';
import { deleteExpiredDays } from './day-partitions.js';
import { migrations } from '../migrations/index.js';
import { NotifyOwners } from '../delivery/health/notify-owners.js';
import { MaintenanceJob } from './maintenance-job.js';

const logger = createLogger('test', 'silent');
let scratch: ScratchDatabase;
let maintenance: MaintenanceJob;

beforeEach(async () => {
  scratch = await scratchDatabase(migrations);
  const limits = { WEBHOOK_DISABLE_FAILURES: 20, WEBHOOK_DISABLE_AFTER_MS: 72 * 3_600_000 };
  maintenance = new MaintenanceJob(
    scratch.database,
    new NotifyOwners(scratch.database, new Outbox(), limits),
    logger,
  );
});
afterEach(() => scratch.drop());

const readPartitions = statement(
  'test.read-partitions',
  "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'webhook\\_deliveries\\_2%' ORDER BY 1",
);
const insertDelivery = statement(
  'test.insert-delivery',
  `INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status)
   VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), 'order.created', 'v', 'held')`,
);
const insertAttempt = statement(
  'test.insert-attempt',
  `INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, outcome)
   VALUES ($1, $2, 1, 'auto', now(), 'timeout')`,
);
const insertEvent = statement(
  'test.insert-event',
  `INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, body)
   VALUES ($1, $2, 'v', 'order.created', $2, now(), '')`,
);
const readAttachedPartitions = statement(
  'test.read-attached-partitions',
  `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'webhook_deliveries'::regclass AND c.relname LIKE 'webhook\\_deliveries\\_2%' ORDER BY 1`,
);
const countDeliveries = statement(
  'test.count-deliveries',
  'SELECT count(*) AS count FROM webhook_deliveries',
);

const writeDeliveries = statement(
  'test.write-deliveries',
  `INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status)
   SELECT $1, gen_random_uuid(), gen_random_uuid(), $2, 'order.created', 'v', 'held' FROM generate_series(1, $3)`,
);

const partitionOf = (daysFromNow: number, table = 'webhook_deliveries') =>
  dayPartition(table, dayFromNow(daysFromNow));
const attachPartition = (daysFromNow: number, table = 'webhook_deliveries') =>
  scratch.dataSource.query(
    `CREATE TABLE ${partitionOf(daysFromNow, table)} PARTITION OF ${table}
     FOR VALUES FROM ('${dayFromNow(daysFromNow)}') TO ('${dayFromNow(daysFromNow + 1)}')`,
  );

describe('the partitions of days', () => {
  it('are created for each day from yesterday to a week ahead, also when repeated', async () => {
    await maintenance.round();
    await maintenance.round();
    const names = (await scratch.database.rows<{ name: string }>(readPartitions)).map((row) => row.name);
    expect(names).toEqual([-1, 0, 1, 2, 3, 4, 5, 6, 7].map((days) => partitionOf(days)));
  });

  it('are dropped for days more than 30 days ago, whose rows in the default partition are deleted', async () => {
    await attachPartition(-32);
    for (const days of [-32, -40, -20])
      await scratch.database.run(insertDelivery, [dayFromNow(days), uuidv7()]);
    expect(await deleteExpiredDays(scratch.database, logger)).toBe(1); // the row in the default partition
    expect((await scratch.database.row<{ count: number }>(countDeliveries))?.count).toBe(1);
    const names = (await scratch.database.rows<{ name: string }>(readPartitions)).map((row) => row.name);
    expect(names).not.toContain(partitionOf(-32));
  });

  it('are dropped for events only after those for deliveries, even if another replica delays the latter', async () => {
    const [deliveries, events] = ['webhook_deliveries', 'webhook_events'];
    for (const table of [deliveries, events]) await attachPartition(-32, table);
    jest.spyOn(scratch.database, 'transaction').mockResolvedValueOnce(false); // another replica has the lock
    await deleteExpiredDays(scratch.database, logger);
    expect(await partitionsOf(scratch.database, events)).toContain(partitionOf(-32, events));
    await deleteExpiredDays(scratch.database, logger);
    expect(await partitionsOf(scratch.database, deliveries, events)).not.toContain(partitionOf(-32, events));
  });

  it('are created for a day that already has rows, which are moved into them', async () => {
    const tomorrow = dayFromNow(1);
    const key = [tomorrow, uuidv7()];
    await scratch.database.run(insertDelivery, key);
    await scratch.database.run(insertAttempt, key);
    await scratch.database.run(insertEvent, key);
    await maintenance.round();
    for (const table of ['webhook_deliveries', 'webhook_attempts', 'webhook_events']) {
      const rows = await scratch.dataSource.query(
        `SELECT tableoid::regclass::text AS partition FROM ${table}`,
      );
      expect(rows).toEqual([{ partition: dayPartition(table, tomorrow) }]);
    }
  });

  it('contain all deliveries that are written while they are created', async () => {
    const write = async (): Promise<void> => {
      for (let count = 0; count < 60; count += 1)
        await scratch.database.run(insertDelivery, [dayFromNow(0), uuidv7()]);
    };
    await Promise.all([maintenance.round(), ...Array.from({ length: 8 }, write)]);
    await maintenance.round();
    expect((await scratch.database.row<{ count: number }>(countDeliveries))?.count).toBe(8 * 60);
    const outside = await scratch.dataSource.query('SELECT FROM webhook_deliveries_other_days');
    expect(outside).toHaveLength(0);
  });

  it('are created and dropped although one of them fails', async () => {
    const [uncreatable, undroppable, old] = [2, -33, -32];
    await scratch.dataSource.query(`CREATE TABLE ${partitionOf(uncreatable)} (unrelated int)`);
    for (const days of [undroppable, old]) await attachPartition(days);
    // A dependent view blocks DROP.
    await scratch.dataSource.query(`CREATE VIEW dependent AS SELECT * FROM ${partitionOf(undroppable)}`);
    await maintenance.round();
    await deleteExpiredDays(scratch.database, logger);
    const names = (await scratch.database.rows<{ name: string }>(readAttachedPartitions)).map(
      (row) => row.name,
    );
    expect(names).toEqual([undroppable, -1, 0, 1, 3, 4, 5, 6, 7].map((days) => partitionOf(days)));
  });
});

it('expired deliveries in the default partition are deleted before their event', async () => {
  const key = [dayFromNow(-40), uuidv7()];
  await scratch.database.run(insertEvent, key);
  await scratch.database.run(writeDeliveries, [...key, 5_001]);
  const countEvents = async () => (await scratch.dataSource.query('SELECT FROM webhook_events')).length;
  // A batch of 5,000 deliveries. The second batch has the last one; then the event is deleted, too.
  expect([await deleteExpiredDays(scratch.database, logger), await countEvents()]).toEqual([5_000, 1]);
  expect([await deleteExpiredDays(scratch.database, logger), await countEvents()]).toEqual([2, 0]);
});

describe('the maintenance job', () => {
  it('completes its round, and warns owners, if held deliveries cannot be counted', async () => {
    await scratch.dataSource.query(`
      INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, consecutive_failures, failing_since)
      VALUES (gen_random_uuid(), gen_random_uuid(), 'c', 'https://shop.example/', '{order.created}', 'x', 'v', 'active', 20, now() - interval '60 hours');
      ALTER TABLE webhook_deliveries RENAME COLUMN status TO other -- makes the count fail`);
    await maintenance.round();
    const warned = await scratch.dataSource.query(
      "SELECT body->'data'->>'reason' AS reason FROM outbox WHERE body->>'type' = 'webhook.subscription.degraded'",
    );
    expect(warned).toEqual([{ reason: 'to_be_disabled' }]);
  });
});
