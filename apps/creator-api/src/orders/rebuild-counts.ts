import { type Database, statement } from '@fulfilment/database';
import { creatorsIn, rebuildByCreator, type Rebuilt } from '../read-models/rebuild-by-creator.js';

const key = 'creator_id, placed_on, payment_status, dispatch_status';

const correct = statement(
  'counts.correct',
  `WITH compared AS MATERIALIZED (
     SELECT ${key}, o.orders AS true_orders, COALESCE(o.orders, 0) - COALESCE(c.orders, 0) AS orders
     FROM (
       SELECT creator_id, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status, count(*) AS orders
       FROM orders WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4
     ) o
     FULL JOIN (SELECT * FROM order_counts WHERE creator_id = ANY($1::uuid[])) c USING (${key})
   ), corrected AS (
     INSERT INTO order_counts AS c (${key}, orders)
     SELECT ${key}, orders FROM compared WHERE orders <> 0 ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET orders = c.orders + excluded.orders
   )
   SELECT count(true_orders) AS rows, count(*) FILTER (WHERE orders <> 0) AS differed FROM compared`,
);

const deleteEmpty = statement(
  'counts.delete_empty',
  'DELETE FROM order_counts WHERE creator_id = ANY($1::uuid[]) AND orders = 0',
);

const plan = {
  name: 'order-counts-rebuild',
  creators: creatorsIn('counts.creators', ['orders', 'order_counts']),
  correct,
  deleteEmpty,
};

/** Recounts the orders and corrects the counts that differ, during concurrent writes. */
export function rebuildCounts(database: Database): Promise<Rebuilt> {
  return rebuildByCreator(database, plan);
}
