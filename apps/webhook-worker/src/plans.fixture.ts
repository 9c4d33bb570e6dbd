import { type Database, type Sql, type Statement, statement, type Values } from '@fulfilment/database';
import { z } from 'zod';

/** A node of a plan. The members about rows and loops require ANALYZE, those about blocks require BUFFERS. */
const planNode = z.looseObject({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Index Name': z.string().optional(),
  'Actual Rows': z.number().optional(),
  'Actual Loops': z.number().optional(),
  'Rows Removed by Filter': z.number().optional(),
  'Shared Hit Blocks': z.number().optional(),
  'Shared Read Blocks': z.number().optional(),
  get Plans() {
    return z.array(planNode).optional();
  },
});
export type PlanNode = z.infer<typeof planNode>;
const explained = z.tuple([z.object({ Plan: planNode })]);

const parentsOf = statement(
  'test.parents',
  `SELECT DISTINCT parent.relname AS name FROM pg_inherits i JOIN pg_class parent ON parent.oid = i.inhparent
   WHERE i.inhrelid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS name) ORDER BY 1`,
);

/** Returns all nodes of the executed plan of a statement, with the planner settings of its connection. */
export async function executedPlan(
  database: Database,
  query: Statement,
  values: Readonly<Record<string, unknown>>,
): Promise<readonly PlanNode[]> {
  await database.rows(query, values);
  const literals = (query.parameters ?? []).map((parameter) => literal(values[parameter]));
  const text = `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${query.name}"(${literals.join(', ')})`;
  return explain(database, { name: '', text });
}

/** Returns all nodes of the plan that an EXPLAIN (FORMAT JSON) shows. */
export async function explain(sql: Sql, query: Statement, values: Values = []): Promise<readonly PlanNode[]> {
  const row = await sql.row<{ 'QUERY PLAN': unknown }>(query, values);
  const [{ Plan: plan }] = explained.parse(row?.['QUERY PLAN']);
  return nodesOf(plan);
}

/** Returns the indexes of partitioned tables that these indexes of partitions belong to. */
export async function parentIndexes(database: Database, names: readonly string[]): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(parentsOf, [names]);
  return rows.map(({ name }) => name);
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: unknown): string {
  if (value === undefined) return 'NULL';
  if (Array.isArray(value)) return `'{${value.join(',')}}'`;
  return typeof value === 'string' ? `'${value}'` : `${Number(value)}`;
}
