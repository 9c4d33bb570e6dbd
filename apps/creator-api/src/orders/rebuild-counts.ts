import { type Database, statement } from '@fulfilment/database';
import {
  creatorsIn,
  rebuildByCreator,
  type RebuildPlan,
  type RebuildResult,
} from '../read-models/rebuild-by-creator.js';
import { appCountKey, countKey } from './order-columns.sql.js';

/** A table of counts. */
interface Counts {
  /** Part of the names of its statements and of the rebuild. */
  readonly name: string;
  readonly table: string;
  /** Columns of its primary key. */
  readonly key: string;
  /** SQL: condition on the orders that the table counts. */
  readonly condition: string;
}

const correctSql = ({ table, key, condition }: Counts): string => `
   WITH compared AS MATERIALIZED (
     SELECT ${key}, counted.orders AS counted_orders, COALESCE(counted.orders, 0) - COALESCE(c.orders, 0) AS difference
     FROM (
       SELECT ${key}, count(*) AS orders
       FROM (SELECT *, (placed_at AT TIME ZONE 'UTC')::date AS placed_on FROM orders WHERE creator_id = ANY($1::uuid[]) AND ${condition}) o
       GROUP BY ${key}
     ) counted
     FULL JOIN (SELECT * FROM ${table} WHERE creator_id = ANY($1::uuid[])) c USING (${key})
   ), corrected AS (
     INSERT INTO ${table} AS c (${key}, orders)
     SELECT ${key}, difference FROM compared WHERE difference <> 0 ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET orders = c.orders + excluded.orders
   )
   SELECT count(counted_orders) AS rows, count(*) FILTER (WHERE difference <> 0) AS differed FROM compared`;

const rebuildPlan = (counts: Counts): RebuildPlan => ({
  name: `order-${counts.name}-rebuild`,
  creators: creatorsIn(`${counts.name}.creators`, ['orders', counts.table]),
  correct: statement(`${counts.name}.correct`, correctSql(counts)),
  deleteEmpty: statement(
    `${counts.name}.delete-empty`,
    `DELETE FROM ${counts.table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${counts.table} WHERE creator_id = ANY($1::uuid[]) AND orders = 0 FOR UPDATE SKIP LOCKED))`,
  ),
});
const countsPlan = rebuildPlan({
  name: 'counts',
  table: 'order_counts',
  key: countKey,
  condition: 'true',
});
const countsByAppPlan = rebuildPlan({
  name: 'app-counts',
  table: 'order_counts_by_app',
  key: appCountKey,
  condition: 'client_id IS NOT NULL',
});

/** Recounts the orders and corrects the counts that differ. Safe during concurrent writes. */
export function rebuildCounts(database: Database): Promise<RebuildResult> {
  return rebuildByCreator(database, countsPlan, countsByAppPlan);
}
