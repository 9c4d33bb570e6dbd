import { type Database, qualifyColumns, statement } from '@fulfilment/database';
import {
  appBreakdownKey,
  breakdownKey,
  selectPostings,
  monthKey,
  sumsBy,
} from '../ledger/ledger-sums.sql.js';
import {
  creatorsIn,
  rebuildByCreator,
  type RebuildPlan,
  type RebuildResult,
} from '../read-models/rebuild-by-creator.js';

// A delta is the sum of the ledger minus the stored sum.
const correctSql = (table: string, key: string): string => `
   WITH compared AS MATERIALIZED (
     SELECT ${key}, l.units AS ledger_units, (l.units, l.revenue, l.royalties) IS DISTINCT FROM (m.units, m.revenue, m.royalties) AS differs,
       COALESCE(l.units, 0) - COALESCE(m.units, 0) AS units_delta, COALESCE(l.revenue, 0) - COALESCE(m.revenue, 0) AS revenue_delta,
       COALESCE(l.royalties, 0) - COALESCE(m.royalties, 0) AS royalties_delta
     FROM (SELECT ${sumsBy(key)} FROM (${selectPostings('l.creator_id = ANY($1::uuid[])')}) line GROUP BY ${key}) l
     FULL JOIN (SELECT * FROM ${table} WHERE creator_id = ANY($1::uuid[])) m USING (${key})
   ), corrected AS (
     INSERT INTO ${table} AS m (${key}, units, revenue, royalties)
     SELECT ${key}, units_delta, revenue_delta, royalties_delta FROM compared WHERE differs ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET units = m.units + excluded.units, revenue = m.revenue + excluded.revenue,
       royalties = m.royalties + excluded.royalties
   )
   SELECT count(ledger_units) AS rows, count(*) FILTER (WHERE differs) AS differed FROM compared`;

// A row of zeros stays if the ledger has postings for it: a sale that was refunded in its month.
const deleteEmptySql = (table: string, key: string): string => `
   DELETE FROM ${table} m WHERE creator_id = ANY($1::uuid[]) AND (units, revenue, royalties) = (0, 0, 0)
     AND NOT EXISTS (SELECT FROM (${selectPostings('l.creator_id = ANY($1::uuid[])')}) line
       WHERE (${qualifyColumns('line', key)}) = (${qualifyColumns('m', key)}))`;

const rebuildPlan = (name: string, table: string, key: string): RebuildPlan => ({
  name: `${name}-rebuild`,
  creators: creatorsIn(`${name}.creators`, ['ledger', table]),
  correct: statement(`${name}.correct`, correctSql(table, key)),
  deleteEmpty: statement(`${name}.delete-empty`, deleteEmptySql(table, key)),
});
const statisticsPlan = rebuildPlan('statistics', 'monthly_statistics', monthKey);
const breakdownPlan = rebuildPlan('breakdown', 'monthly_breakdown', breakdownKey);
const appBreakdownPlan = rebuildPlan('app-breakdown', 'monthly_app_breakdown', appBreakdownKey);

/** Recalculates the monthly sums from the ledger, and corrects wrong ones. Safe during postings. */
export function rebuildStatistics(database: Database): Promise<RebuildResult> {
  return rebuildByCreator(database, statisticsPlan);
}

/** Recalculates the breakdowns from ledger and orders, and corrects wrong sums. Safe during postings. */
export function rebuildBreakdown(database: Database): Promise<RebuildResult> {
  return rebuildByCreator(database, breakdownPlan, appBreakdownPlan);
}
