import { type Database, type Sql, type Statement, statement, type Values } from '../index.js';

/** A node of a plan. Rows, loops and blocks were counted while the plan was executed. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** Absent if the whole index is read. */
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

const forceGenericPlan = statement(
  'test.force-generic-plan',
  'SET LOCAL plan_cache_mode = force_generic_plan',
);
const explainExecuted = 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)';

/** Executes a statement with a plan for these values. Returns all nodes of the plan, parents first. */
export function executedPlan(sql: Sql, query: Statement, values: Values = []): Promise<readonly PlanNode[]> {
  return readPlan(sql, { ...query, name: '', text: `${explainExecuted} ${query.text}` }, values);
}

/** Like `executedPlan`, with the plan that does not depend on the values. A missing value is null. */
export function executedGenericPlan(
  database: Database,
  query: Statement,
  values: Readonly<Record<string, unknown>>,
): Promise<readonly PlanNode[]> {
  const literals = (query.parameters ?? []).map((parameter) => literal(values[parameter]));
  return database.transaction(async (tx) => {
    await tx.run(forceGenericPlan);
    await tx.run({ name: '', text: `PREPARE explained AS ${query.text}` });
    const text = `${explainExecuted} EXECUTE explained (${literals.join(', ')})`;
    const nodes = await readPlan(tx, { name: '', text });
    await tx.run({ name: '', text: 'DEALLOCATE explained' });
    return nodes;
  });
}

/** Returns all nodes of the plan that an EXPLAIN (FORMAT JSON) shows, parents first. */
export async function readPlan(
  sql: Sql,
  explain: Statement,
  values: Values = [],
): Promise<readonly PlanNode[]> {
  const row = await sql.row<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(explain, values);
  return row?.['QUERY PLAN'].flatMap(({ Plan: root }) => nodesOf(root)) ?? [];
}

/** Returns the number of 8 kB blocks that a node and its children read; NaN if they were not counted. */
export function blocksRead(node: PlanNode | undefined): number {
  return (node?.['Shared Hit Blocks'] ?? NaN) + (node?.['Shared Read Blocks'] ?? NaN);
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: unknown): string {
  if (value === undefined) return 'NULL';
  if (Array.isArray(value)) return `'{${value.join(',')}}'`;
  return typeof value === 'string' ? `'${value}'` : `${Number(value)}`;
}
