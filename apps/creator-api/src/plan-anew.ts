import { statement, type Transaction } from '@fulfilment/database';

const planAnewEachTime = statement(
  'database.plan_anew',
  `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

/**
 * Has PostgreSQL plan each statement of this transaction for the tables as they are. A plan that was kept from when they were nearly empty reads
 * them from end to end for every batch, until autovacuum has counted them: after a rebuild from nothing that made projecting 20 times as slow.
 */
export async function planAnew(tx: Transaction): Promise<void> {
  await tx.run(planAnewEachTime);
}
