import { type Database, statement } from '@fulfilment/database';
import {
  creatorsIn,
  rebuildByCreator,
  type RebuildPlan,
  type Rebuilt,
} from '../read-models/rebuild-by-creator.js';

const correctSql = (table: string, key: string, condition: string): string => `
   WITH compared AS MATERIALIZED (
     SELECT ${key}, o.orders AS true_orders, COALESCE(o.orders, 0) - COALESCE(c.orders, 0) AS orders
     FROM (
       SELECT ${key}, count(*) AS orders
       FROM (SELECT *, (placed_at AT TIME ZONE 'UTC')::date AS placed_on FROM orders WHERE creator_id = ANY($1::uuid[]) AND ${condition}) o
       GROUP BY ${key}
     ) o
     FULL JOIN (SELECT * FROM ${table} WHERE creator_id = ANY($1::uuid[])) c USING (${key})
   ), corrected AS (
     INSERT INTO ${table} AS c (${key}, orders)
     SELECT ${key}, orders FROM compared WHERE orders <> 0 ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET orders = c.orders + excluded.orders
   )
   SELECT count(true_orders) AS rows, count(*) FILTER (WHERE orders <> 0) AS differed FROM compared`;

const planOf = (name: string, table: string, key: string, condition: string): RebuildPlan => ({
  name: `order-${name}-rebuild`,
  creators: creatorsIn(`${name}.creators`, ['orders', table]),
  correct: statement(`${name}.correct`, correctSql(table, key, condition)),
  deleteEmpty: statement(
    `${name}.delete_empty`,
    `DELETE FROM ${table} WHERE creator_id = ANY($1::uuid[]) AND orders = 0`,
  ),
});
const key = 'placed_on, payment_status, dispatch_status';
const counts = planOf('counts', 'order_counts', `creator_id, ${key}`, 'true');
const countsByApp = planOf(
  'app-counts',
  'order_counts_by_app',
  `creator_id, client_id, ${key}`,
  'client_id IS NOT NULL',
);

/** Recounts the orders and corrects the counts that differ, during concurrent writes. */
export async function rebuildCounts(database: Database): Promise<Rebuilt> {
  const all = await rebuildByCreator(database, counts);
  const byApp = await rebuildByCreator(database, countsByApp);
  return { rows: all.rows + byApp.rows, differed: all.differed + byApp.differed };
}
