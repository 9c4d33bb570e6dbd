import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';

const monthsAhead = 3;
/** Arbitrary, equal for all replicas. */
const advisoryLock = 7_391_005;

interface Month {
  readonly name: string;
}

const tryLock = statement(
  'audit-partitions.lock',
  `SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS mine`,
);
// Requests write to the log: if the lock is not available at once, the next run in a minute retries.
const setLockTimeout = statement('audit-partitions.lock-timeout', "SET LOCAL lock_timeout = '200ms'");
const partitions = `
  SELECT quote_ident(child.relname) AS name,
    (regexp_match(pg_get_expr(child.relpartbound, child.oid), $$TO \\('([^']+)'\\)$$))[1]::timestamptz AS ends
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = 'audit_log'::regclass`;
const nextMonth = statement(
  'audit-partitions.next',
  `SELECT to_char(last AT TIME ZONE 'UTC', '"audit_log_"YYYY_MM') AS name,
     to_char(last AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS starts,
     to_char(last AT TIME ZONE 'UTC' + interval '1 month', 'YYYY-MM-DD') AS ends
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
    while (await withLock(database, createNextMonth));
    await withLock(database, (tx) => dropOldMonths(tx, retentionDays));
  } catch (error) {
    logger.warn({ error }, 'The partitions of the audit log could not be changed; will retry in a minute.');
  }
}

/** Runs on one replica at a time; the others skip it. */
function withLock(database: Database, work: (tx: Transaction) => Promise<boolean>): Promise<boolean> {
  return database.transaction(async (tx) => {
    if ((await tx.row<{ mine: boolean }>(tryLock))?.mine !== true) return false;
    await tx.run(setLockTimeout);
    return work(tx);
  });
}

/**
 * Returns whether a partition was missing. DDL has no parameters; the names and dates come from PostgreSQL.
 */
async function createNextMonth(tx: Transaction): Promise<boolean> {
  const month = await tx.row<Month & { starts: string; ends: string }>(nextMonth);
  if (month === undefined) return false;
  const { name, starts, ends } = month;
  const run = (text: string): Promise<number> => tx.run({ name: '', text });
  await run(`CREATE TABLE ${name} (LIKE audit_log INCLUDING ALL)`);
  await run(
    `CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${name}
     FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
  );
  await run(
    `ALTER TABLE audit_log ATTACH PARTITION ${name} FOR VALUES FROM ('${starts} 00:00:00+00') TO ('${ends} 00:00:00+00')`,
  );
  return true;
}

async function dropOldMonths(tx: Transaction, retentionDays: number): Promise<boolean> {
  const months = await tx.rows<Month>(oldMonths, [retentionDays]);
  for (const { name } of months) await tx.run({ name: '', text: `DROP TABLE ${name}` });
  return months.length > 0;
}
