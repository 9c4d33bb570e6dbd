import { type Database, statement } from '@fulfilment/database';
import { breakdownKey as key, ledgerBreakdown } from '../ledger/breakdown.sql.js';
import { creatorsIn, rebuildByCreator, type Rebuilt } from '../read-models/rebuild-by-creator.js';

const correct = statement(
  'breakdown.correct',
  `WITH compared AS MATERIALIZED (
     SELECT ${key}, l.units AS true_units, COALESCE(l.units, 0) - COALESCE(m.units, 0) AS units,
       COALESCE(l.revenue, 0) - COALESCE(m.revenue, 0) AS revenue, COALESCE(l.royalties, 0) - COALESCE(m.royalties, 0) AS royalties
     FROM (${ledgerBreakdown('l.creator_id = ANY($1::uuid[])')}) l
     FULL JOIN (SELECT * FROM monthly_breakdown WHERE creator_id = ANY($1::uuid[])) m USING (${key})
   ), corrected AS (
     INSERT INTO monthly_breakdown AS m (${key}, units, revenue, royalties)
     SELECT ${key}, units, revenue, royalties FROM compared WHERE (units, revenue, royalties) <> (0, 0, 0) ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET units = m.units + excluded.units, revenue = m.revenue + excluded.revenue,
       royalties = m.royalties + excluded.royalties
   )
   SELECT count(true_units) AS rows, count(*) FILTER (WHERE (units, revenue, royalties) <> (0, 0, 0)) AS differed FROM compared`,
);

// A missing row counts as zeros, so those of a sale that was refunded in its month may be deleted as well.
const deleteEmpty = statement(
  'breakdown.delete_empty',
  'DELETE FROM monthly_breakdown WHERE creator_id = ANY($1::uuid[]) AND (units, revenue, royalties) = (0, 0, 0)',
);

const plan = {
  name: 'breakdown-rebuild',
  creators: creatorsIn('breakdown.creators', ['ledger', 'monthly_breakdown']),
  correct,
  deleteEmpty,
};

/** Recalculates the breakdown from the ledger and the orders, during concurrent postings. */
export function rebuildBreakdown(database: Database): Promise<Rebuilt> {
  return rebuildByCreator(database, plan);
}
