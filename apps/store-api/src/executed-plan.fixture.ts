import { type Database, type Statement, statement } from '@fulfilment/database';

const forceGenericPlan = statement(
  'test.force-generic-plan',
  'SET LOCAL plan_cache_mode = force_generic_plan',
);

/**
 * Executes a statement, and returns its plan with the actual rows of each node.
 * @param values of its parameters in order; undefined is null
 * @param options `generic` chooses the plan that does not depend on the values
 */
export function executedPlan(
  database: Database,
  query: Statement,
  values: readonly (string | undefined)[],
  { generic = false } = {},
): Promise<string> {
  const literals = values.map((value) => (value === undefined ? 'NULL' : `'${value}'`));
  return database.transaction(async (tx) => {
    if (generic) await tx.run(forceGenericPlan);
    await tx.run({ name: '', text: `PREPARE explained AS ${query.text}` });
    const rows = await tx.rows<{ 'QUERY PLAN': string }>({
      name: '',
      text: `EXPLAIN (ANALYZE, TIMING off, COSTS off) EXECUTE explained (${literals.join(', ')})`,
    });
    await tx.run({ name: '', text: 'DEALLOCATE explained' });
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}
