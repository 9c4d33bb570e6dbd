import { publicId, uuidv7 } from '@fulfilment/contracts';
import { type Database, dayPartition, statement } from '@fulfilment/database';
import type { CursorKey } from '@fulfilment/http-service';
import { createLogger } from '@fulfilment/runtime';
import {
  executedGenericPlan,
  type PlanNode,
  scratchDatabase,
  type ScratchDatabase,
} from '@fulfilment/database/testing';
import { dayFromNow } from '../test/due-deliveries.fixture.js';
import { migrations } from '../migrations/index.js';
import { writeHistory } from '../test/history.fixture.js';
import { parentIndexes } from './parent-indexes.fixture.js';
import { createDayPartitions } from '../maintenance/day-partitions.js';
import { type DeliveryFilters, pageQuery } from './delivery-page.js';

const count = 30_000;
const pageSize = 21;
const subscriptionId = uuidv7();
const setOrderOfAnEvent = statement(
  'test.set-order-of-an-event',
  `UPDATE webhook_events SET subject_id = gen_random_uuid()
   WHERE id = (SELECT event_id FROM webhook_deliveries WHERE subscription_id = $1 LIMIT 1) RETURNING id, subject_id AS "orderId"`,
);
let scratch: ScratchDatabase;
let database: Database;

beforeAll(async () => {
  scratch = await scratchDatabase(migrations);
  ({ database } = scratch);
  await createDayPartitions(database, createLogger('test', 'silent'));
  await writeHistory(database, subscriptionId, { count, failedEvery: 5_000 });
  // Another subscription: a page reads none of its deliveries, many of which have failed.
  await writeHistory(database, uuidv7(), { count, failedEvery: 2 });
});
afterAll(() => scratch.drop());

const partitionOf = (daysFromNow: number) => dayPartition('webhook_deliveries', dayFromNow(daysFromNow));

async function planOf(filters: DeliveryFilters, after?: CursorKey): Promise<readonly PlanNode[]> {
  const { statement: page, values } = pageQuery(subscriptionId, filters, pageSize, after);
  return executedGenericPlan(database, page, values);
}

describe('a page of a delivery history', () => {
  it.each<[DeliveryFilters, string]>([
    [{}, 'webhook_deliveries_newest'],
    [{ test: 'false' }, 'webhook_deliveries_newest'],
    [{ test: 'true' }, 'webhook_deliveries_tests'],
    [{ status: 'failed' }, 'webhook_deliveries_by_status'],
    [{ status: 'succeeded' }, 'webhook_deliveries_by_status'],
    [{ status: 'held' }, 'webhook_deliveries_by_status'],
    [{ event: 'order.cancelled' }, 'webhook_deliveries_by_event'],
    [{ event: 'order.shipped' }, 'webhook_deliveries_by_event'],
    [{ event: 'order.created', status: 'failed' }, 'webhook_deliveries_by_event'],
    [{ event: 'order.cancelled', status: 'succeeded' }, 'webhook_deliveries_by_event'],
  ])(
    'filtered by %j reads at most a page of rows per partition, from the index %s',
    async (filters, index) => {
      const nodes = await planOf(filters);
      const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
      const names = scans.flatMap((node) => node['Index Name'] ?? []);
      expect(scans.length).toBeGreaterThan(0);
      expect(names).toHaveLength(scans.length);
      expect(await parentIndexes(database, names)).toEqual([index]);
      for (const scan of scans) {
        expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
        expect(scan['Actual Rows']).toBeLessThanOrEqual(pageSize);
      }
    },
  );

  it('of an event or an order reads no deliveries of other events', async () => {
    const event = await database.row<{ id: string; orderId: string }>(setOrderOfAnEvent, [subscriptionId]);
    expect(event).toBeDefined();
    for (const filters of [
      { event_id: publicId('evt', event?.id ?? '') },
      { order_id: publicId('ord', event?.orderId ?? '') },
    ]) {
      const nodes = await planOf(filters);
      const scans = nodes.filter(
        (node) => node['Actual Loops'] !== 0 && node['Relation Name']?.startsWith('webhook_deliveries'),
      );
      const indexes = scans.flatMap((node) => node['Index Name'] ?? []);
      expect(await parentIndexes(database, indexes)).toEqual(['webhook_deliveries_id_day_idx']);
    }
  });

  it('opens no partition of a later day than its deliveries can have, except for days after tomorrow', async () => {
    const [tomorrow, later] = [1, 2].map((days) => partitionOf(days));
    const createdBefore = `${dayFromNow(-1)}T00:00:00Z`;
    const after = { micros: Date.parse(createdBefore) * 1000, id: uuidv7() };
    for (const nodes of [
      await planOf({ created_before: createdBefore }),
      await planOf({ status: 'failed' }, after),
    ]) {
      const tables = new Set(nodes.flatMap((node) => node['Relation Name'] ?? []));
      expect(tables).not.toContain(tomorrow);
      expect(tables).toContain(partitionOf(-1));
      expect(tables).toContain(later); // days after tomorrow are searched because of wrong clocks
    }
  });
});
