import { changePartitions, createPartition, type Database, statement } from '@fulfilment/database';

const table = 'audit_log';
const monthsAhead = 3;
/** An arbitrary number, equal for all replicas. */
const advisoryLock = 7_391_005;

interface Partition {
  /** Quoted for SQL if necessary. */
  readonly name: string;
}

// A partition's end is the second value in its definition, `FOR VALUES FROM ('…') TO ('…')`.
const partitionsSql = `
  SELECT quote_ident(child.relname) AS name,
    (regexp_match(pg_get_expr(child.relpartbound, child.oid), $$TO [(]'([^']+)'[)]$$))[1]::timestamptz AS ends
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = '${table}'::regclass`;
const findNextPartition = statement(
  'audit-partitions.next',
  `SELECT '${table}_' || to_char(last AT TIME ZONE 'UTC', 'YYYY_MM') AS name,
     to_char(last AT TIME ZONE 'UTC', 'YYYY-MM-DD 00:00:00+00') AS "from",
     to_char(last AT TIME ZONE 'UTC' + interval '1 month', 'YYYY-MM-DD 00:00:00+00') AS "to"
   FROM (SELECT max(ends) AS last FROM (${partitionsSql}) AS months) AS newest
   WHERE last < now() + interval '${monthsAhead} months'`,
);
const listOldPartitions = statement(
  'audit-partitions.old',
  `SELECT name FROM (${partitionsSql}) AS months WHERE ends < now() - $1 * interval '1 day' ORDER BY ends`,
);

/**
 * Creates the audit log's partitions for the next months, and drops partitions that are entirely older than
 * the retention.
 */
export async function maintainAuditPartitions(database: Database, retentionDays: number): Promise<void> {
  let created = true;
  while (created) created = await createNextPartition(database);
  await dropOldPartitions(database, retentionDays);
}

/** Creates one partition if one is missing. Returns whether it did. */
async function createNextPartition(database: Database): Promise<boolean> {
  let created = false;
  await changePartitions(database, advisoryLock, async (runDdl, tx) => {
    const partition = await tx.row<Partition & { from: string; to: string }>(findNextPartition);
    if (partition === undefined) return;
    const appendOnly = `
      CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${partition.name}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`;
    await createPartition(runDdl, { table, ...partition, prepare: [appendOnly] });
    created = true;
  });
  return created;
}

async function dropOldPartitions(database: Database, retentionDays: number): Promise<void> {
  await changePartitions(database, advisoryLock, async (runDdl, tx) => {
    for (const { name } of await tx.rows<Partition>(listOldPartitions, [retentionDays]))
      await runDdl(`DROP TABLE ${name}`);
  });
}
