import { changePartitions, createPartition, type Database, statement } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';

const table = 'audit_log';
const monthsAhead = 3;
/** Arbitrary, equal for all replicas. */
const advisoryLock = 7_391_005;

interface Month {
  readonly name: string;
}

const partitions = `
  SELECT quote_ident(child.relname) AS name,
    (regexp_match(pg_get_expr(child.relpartbound, child.oid), $$TO \\('([^']+)'\\)$$))[1]::timestamptz AS ends
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = '${table}'::regclass`;
const nextMonth = statement(
  'audit-partitions.next',
  `SELECT to_char(last AT TIME ZONE 'UTC', '"${table}_"YYYY_MM') AS name,
     to_char(last AT TIME ZONE 'UTC', 'YYYY-MM-DD 00:00:00+00') AS "from",
     to_char(last AT TIME ZONE 'UTC' + interval '1 month', 'YYYY-MM-DD 00:00:00+00') AS "to"
   FROM (SELECT max(ends) AS last FROM (${partitions}) AS months) AS newest
   WHERE last < now() + interval '${monthsAhead} months'`,
);
const oldMonths = statement(
  'audit-partitions.old',
  `SELECT name FROM (${partitions}) AS months WHERE ends < now() - $1 * interval '1 day' ORDER BY ends`,
);

/**
 * Creates the audit log's partitions for the next months, and drops partitions that are entirely older than
 * the retention.
 */
export async function maintainAuditPartitions(
  database: Database,
  retentionDays: number,
  logger: Logger,
): Promise<void> {
  try {
    while (await createNextMonth(database));
    await dropOldMonths(database, retentionDays);
  } catch (error) {
    logger.warn({ error }, 'The partitions of the audit log could not be changed; will retry in a minute.');
  }
}

/** Returns whether a partition was missing. */
async function createNextMonth(database: Database): Promise<boolean> {
  let created = false;
  await changePartitions(database, advisoryLock, async (run, tx) => {
    const month = await tx.row<Month & { from: string; to: string }>(nextMonth);
    if (month === undefined) return;
    const appendOnly = `
      CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${month.name}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`;
    await createPartition(run, { table, ...month, prepare: [appendOnly] });
    created = true;
  });
  return created;
}

async function dropOldMonths(database: Database, retentionDays: number): Promise<void> {
  await changePartitions(database, advisoryLock, async (run, tx) => {
    for (const { name } of await tx.rows<Month>(oldMonths, [retentionDays])) await run(`DROP TABLE ${name}`);
  });
}
