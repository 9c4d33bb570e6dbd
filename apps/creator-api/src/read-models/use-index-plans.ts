import { statement, type Transaction } from '@fulfilment/database';

const setIndexPlans = statement(
  'database.use-index-plans',
  `SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('join_collapse_limit', '1', true),
     set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
);

/**
 * Makes PostgreSQL plan each statement of this transaction once, with joins in their written order and by
 * index. Such a plan is good for tables of any size. Without these settings, a plan that was made for nearly
 * empty tables reads whole tables later, and planning each execution costs as much as executing it.
 */
export async function useIndexPlans(tx: Transaction): Promise<void> {
  await tx.run(setIndexPlans);
}
