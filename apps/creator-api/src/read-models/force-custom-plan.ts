import { statement, type Transaction } from '@fulfilment/database';

const setCustomPlan = statement(
  'database.force_custom_plan',
  `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

/**
 * Makes PostgreSQL plan each statement of this transaction for the current sizes of its tables. Otherwise a
 * generic plan from when the tables were nearly empty stays cached until they are analysed, and reads whole
 * tables for each batch: after a rebuild from empty tables, the projection was 20 times slower.
 */
export async function forceCustomPlan(tx: Transaction): Promise<void> {
  await tx.run(setCustomPlan);
}
