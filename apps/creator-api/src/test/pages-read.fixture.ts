import type { Sql, Statement, Values } from '@fulfilment/database';

/** Executes a statement and returns the number of 8 kB pages that it reads. */
export async function countPagesRead(sql: Sql, measured: Statement, values: Values): Promise<number> {
  const { name, text } = measured;
  const explain = {
    ...measured,
    name: `test.explain-${name}`,
    text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
  };
  const row = await sql.row<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(explain, values);
  const plan = row?.['QUERY PLAN'][0]?.Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN);
}
