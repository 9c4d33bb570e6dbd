import { type Database, statement } from '@fulfilment/database';
import { creatorsIn, rebuildByCreator, type Rebuilt } from '../read-models/rebuild-by-creator.js';

const key = 'creator_id, period, currency, release_id, ean';

const correct = statement(
  'statistics.correct',
  `WITH compared AS MATERIALIZED (
     SELECT ${key}, l.units AS true_units, (l.units, l.revenue, l.royalties) IS DISTINCT FROM (m.units, m.revenue, m.royalties) AS differs,
       COALESCE(l.units, 0) - COALESCE(m.units, 0) AS units, COALESCE(l.revenue, 0) - COALESCE(m.revenue, 0) AS revenue,
       COALESCE(l.royalties, 0) - COALESCE(m.royalties, 0) AS royalties
     FROM (
       SELECT creator_id, period, settlement_currency AS currency, release_id, ean, sum(units) AS units,
         sum(settled_revenue) AS revenue, sum(settled_royalty) AS royalties
       FROM ledger WHERE creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4, 5
     ) l
     FULL JOIN (SELECT * FROM monthly_statistics WHERE creator_id = ANY($1::uuid[])) m USING (${key})
   ), corrected AS (
     INSERT INTO monthly_statistics AS m (${key}, units, revenue, royalties)
     SELECT ${key}, units, revenue, royalties FROM compared WHERE differs ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET units = m.units + excluded.units, revenue = m.revenue + excluded.revenue,
       royalties = m.royalties + excluded.royalties
   )
   SELECT count(true_units) AS rows, count(*) FILTER (WHERE differs) AS differed FROM compared`,
);

const deleteEmpty = statement(
  'statistics.delete_empty',
  `DELETE FROM monthly_statistics m WHERE creator_id = ANY($1::uuid[]) AND (units, revenue, royalties) = (0, 0, 0)
     AND NOT EXISTS (SELECT FROM ledger l WHERE l.creator_id = m.creator_id AND l.period = m.period
       AND l.settlement_currency = m.currency AND l.release_id = m.release_id AND l.ean = m.ean)`,
);

const plan = {
  name: 'statistics-rebuild',
  creators: creatorsIn('statistics.creators', ['ledger', 'monthly_statistics']),
  correct,
  deleteEmpty,
};

/**
 * Recalculates the monthly sums from the ledger and corrects those that differ, during concurrent postings.
 */
export function rebuildStatistics(database: Database): Promise<Rebuilt> {
  return rebuildByCreator(database, plan);
}
