import { uuidv7 } from '@fulfilment/contracts';
import { type Database, dayPartition, statement } from '@fulfilment/database';
import { executedGenericPlan, scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { deliveryIdSql } from '../delivery/delivery-id.js';
import { dayFromNow } from '../test/due-deliveries.fixture.js';
import { migrations } from '../migrations/index.js';
import { parentIndexes } from './parent-indexes.fixture.js';
import { createDayPartitions } from '../maintenance/day-partitions.js';
import { pageOfOrder } from './read-order-deliveries.js';

const [creatorId, subscriptionId, orderId] = [uuidv7(), uuidv7(), uuidv7()];
// Today, events about many orders, one of them the order of the test, each with a delivery.
const write = statement(
  'test.write-order-events',
  `WITH event AS (
     INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, subject_id, body)
     SELECT :day::date, gen_random_uuid(), 'v', 'order.created', :creator_id, now(),
       CASE WHEN n = 1 THEN :order_id::uuid ELSE gen_random_uuid() END, ''
     FROM generate_series(1, 5000) AS n RETURNING id
   )
   INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, completed_at)
   SELECT :day, ${deliveryIdSql('id', ':subscription_id::uuid')}, :subscription_id, id, 'order.created', 'v', 'succeeded', now()
   FROM event`,
);
const subscribe = statement(
  'test.subscribe',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, api_version, secret, status)
   VALUES (:subscription_id, :creator_id, 'app', 'https://shop.example/hooks', '{order.*}', 'v', '', 'active')`,
);
const analyse = statement(
  'test.analyse',
  'ANALYZE webhook_events, webhook_deliveries, webhook_subscriptions',
);

let scratch: ScratchDatabase;
let database: Database;

beforeAll(async () => {
  scratch = await scratchDatabase(migrations);
  ({ database } = scratch);
  await createDayPartitions(database, createLogger('test', 'silent'));
  const values = { creator_id: creatorId, subscription_id: subscriptionId, order_id: orderId };
  await database.run(subscribe, values);
  await database.run(write, { ...values, day: dayFromNow(0) });
  await database.run(analyse);
});
afterAll(() => scratch.drop());

describe('a page of the deliveries about an order', () => {
  it('finds the events by their subject, and each delivery by its id in the partition of its day', async () => {
    const nodes = await executedGenericPlan(database, pageOfOrder, {
      order_id: orderId,
      creator_id: creatorId,
      limit: 21,
    });
    const scans = nodes.filter((node) => node['Actual Loops'] !== 0);
    const read = scans.flatMap((node) => node['Relation Name'] ?? []);
    const partition = dayPartition('webhook_deliveries', dayFromNow(0));
    expect(nodes[0]).toMatchObject({ 'Actual Rows': 1 });
    expect(read.filter((table) => table.startsWith('webhook_deliveries'))).toEqual([partition]);
    const indexes = scans.flatMap((node) => node['Index Name'] ?? []);
    expect(scans).not.toContainEqual(expect.objectContaining({ 'Node Type': 'Seq Scan' }));
    expect(await parentIndexes(database, indexes)).toEqual([
      'webhook_deliveries_id_day_idx',
      'webhook_events_subject',
    ]);
  });
});
