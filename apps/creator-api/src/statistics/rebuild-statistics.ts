import { type Database, qualifyColumns, statement } from '@fulfilment/database';
import {
  appBreakdownKey,
  breakdownKey,
  selectPostingsSql,
  monthKey,
  sumsBySql,
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
     SELECT ${key}, summed.units AS summed_units,
       (summed.units, summed.revenue, summed.royalties) IS DISTINCT FROM (stored.units, stored.revenue, stored.royalties) AS differs,
       COALESCE(summed.units, 0) - COALESCE(stored.units, 0) AS units_delta, COALESCE(summed.revenue, 0) - COALESCE(stored.revenue, 0) AS revenue_delta,
       COALESCE(summed.royalties, 0) - COALESCE(stored.royalties, 0) AS royalties_delta
     FROM (SELECT ${sumsBySql(key)} FROM (${selectPostingsSql('l.creator_id = ANY($1::uuid[])')}) posting GROUP BY ${key}) summed
     FULL JOIN (SELECT * FROM ${table} WHERE creator_id = ANY($1::uuid[])) stored USING (${key})
   ), corrected AS (
     INSERT INTO ${table} AS m (${key}, units, revenue, royalties)
     SELECT ${key}, units_delta, revenue_delta, royalties_delta FROM compared WHERE differs ORDER BY ${key}
     ON CONFLICT (${key}) DO UPDATE SET units = m.units + excluded.units, revenue = m.revenue + excluded.revenue,
       royalties = m.royalties + excluded.royalties
   )
   SELECT count(summed_units) AS rows, count(*) FILTER (WHERE differs) AS differed FROM compared`;

// A row of zeros stays if the ledger has postings for it: a sale that was refunded in its month.
const deleteEmptySql = (table: string, key: string): string => `
   DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM ${table} m WHERE creator_id = ANY($1::uuid[]) AND (units, revenue, royalties) = (0, 0, 0)
       AND NOT EXISTS (SELECT FROM (${selectPostingsSql('l.creator_id = ANY($1::uuid[])')}) posting
         WHERE (${qualifyColumns('posting', key)}) = (${qualifyColumns('m', key)}))
     FOR UPDATE OF m SKIP LOCKED))`;

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
