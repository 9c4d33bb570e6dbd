import { statement, type Transaction } from '@fulfilment/database';

const setCustomPlan = statement(
  'database.force_custom_plan',
  `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

/**
 * Makes PostgreSQL plan each statement of this transaction for the current sizes of its tables. A generic
 * plan from when they were nearly empty stays cached until they are analysed, and reads whole tables for each
 * batch. After a rebuild from empty tables that made projecting 20 times slower.
 */
export async function forceCustomPlan(tx: Transaction): Promise<void> {
  await tx.run(setCustomPlan);
}
