import { statement, type Transaction } from '@fulfilment/database';

const setCustomPlan = statement(
  'database.force_custom_plan',
  `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

/**
 * Makes PostgreSQL plan each statement of this transaction for the current table statistics. A cached generic
 * plan from when the tables were nearly empty scans them sequentially for every batch until autovacuum
 * updates the statistics. After a rebuild from empty tables that made projecting 20 times slower.
 */
export async function forceCustomPlan(tx: Transaction): Promise<void> {
  await tx.run(setCustomPlan);
}
