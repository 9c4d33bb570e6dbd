import { type Database, type Sql, statement, type Transaction } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';
import { advisoryLocks } from '../advisory-locks.js';

/**
 * In the order in which the tables of a day are dropped: events last, so that no delivery is ever without its
 * body.
 */
const tables = ['webhook_deliveries', 'webhook_attempts', 'webhook_events'] as const;
type Table = (typeof tables)[number];
const daysAhead = 7;
const daysKept = 30;
const dayMs = 86_400_000;
/**
 * Maximum number of rows moved into a new partition. The table is locked during the move, for well under a
 * second.
 */
const maxMovedRows = 20_000;
const maxDeletedRows = 5_000;

const tryAcquireLock = statement(
  'partitions.try-acquire-lock',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.dayPartitions}) AS acquired`,
);
const today = statement('partitions.today', "SELECT (now() AT TIME ZONE 'UTC')::date AS day");
const existing = statement(
  'partitions.existing',
  `SELECT child.relname AS name FROM pg_inherits i JOIN pg_class child ON child.oid = i.inhrelid
   WHERE i.inhparent = ANY(ARRAY['webhook_deliveries', 'webhook_attempts', 'webhook_events']::regclass[])`,
);
// A partition that cannot be created or dropped at once is retried a minute later: other statements would
// queue behind a pending lock request.
const setLockTimeout = statement('partitions.set-lock-timeout', "SET LOCAL lock_timeout = '200ms'");

/**
 * Creates a partition for each day from yesterday to a week ahead, and moves rows of the day from the default
 * partition into it. Each is created on its own, so that a failure does not affect the others.
 */
export async function createDayPartitions(database: Database, logger: Logger): Promise<void> {
  const [day, names] = [await currentDay(database), await partitions(database)];
  for (const offset of Array.from({ length: daysAhead + 2 }, (_, index) => index - 1)) {
    for (const table of tables) {
      const from = addDays(day, offset);
      if (names.has(partitionName(table, from))) continue;
      await attempt(logger, 'made', table, from, () => createPartition(database, table, from));
    }
  }
}

/**
 * Drops the partitions of days more than 30 days ago, and deletes rows of these days from the default
 * partitions, 5000 at a time. Returns the number of these rows.
 */
export async function deleteExpiredDays(database: Database, logger: Logger): Promise<number> {
  const [oldest, names] = [addDays(await currentDay(database), -daysKept), await partitions(database)];
  for (const old of daysBefore(oldest, names)) {
    for (const table of tables) {
      const name = partitionName(table, old);
      if (!names.has(name)) continue;
      const dropped = await attempt(logger, 'dropped', table, old, () =>
        withLock(database, (tx) => tx.run({ name: '', text: `DROP TABLE IF EXISTS ${name}` })),
      );
      if (!dropped) break; // the other tables of the day are dropped in a later round
    }
  }
  let deleted = 0;
  for (const table of tables) deleted += await deleteOldRows(database, table, oldest);
  return deleted;
}

async function currentDay(sql: Sql): Promise<string> {
  const now = await sql.row<{ day: string }>(today);
  if (now === undefined) throw new Error('PostgreSQL returned no date.');
  return now.day;
}

async function partitions(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql.rows<{ name: string }>(existing);
  return new Set(rows.map((row) => row.name));
}

async function attempt(
  logger: Logger,
  action: string,
  table: Table,
  day: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    logger.warn({ error, table, day }, `The partition of a day could not be ${action}; will retry.`);
    return false;
  }
}

/** Runs the work in one replica at a time; the others skip it. */
async function withLock(database: Database, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  await database.transaction(async (tx) => {
    const lock = await tx.row<{ acquired: boolean }>(tryAcquireLock);
    if (lock?.acquired !== true) return;
    await tx.run(setLockTimeout);
    await work(tx);
  });
}

/**
 * Creates the partition before it locks the table, so that work on the table stops for some milliseconds
 * only. The lock is needed because a concurrent insert of a row of that day into the default partition would
 * be rejected. DDL takes no parameters; the names consist of a fixed table name and a date. Statements
 * without a name are not prepared.
 *
 * @throws when the default partition has too many rows of the day to move: they stay there, which is correct
 *   but slower
 */
async function createPartition(database: Database, table: Table, day: string): Promise<void> {
  const [name, defaultPartition] = [partitionName(table, day), `${table}_other_days`];
  await withLock(database, async (tx) => {
    if ((await partitions(tx)).has(name)) return;
    const run = (text: string): Promise<number> => tx.run({ name: '', text });
    await run(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
    await run(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`);
    const toMove = await run(
      `SELECT FROM ${defaultPartition} WHERE day = '${day}' LIMIT ${maxMovedRows + 1}`,
    );
    if (toMove > maxMovedRows)
      throw new Error(`More than ${maxMovedRows} rows of the day are in ${defaultPartition}.`);
    await run(`WITH moved AS (DELETE FROM ${defaultPartition} WHERE day = '${day}' RETURNING *)
      INSERT INTO ${name} SELECT * FROM moved`);
    await run(
      `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${day}') TO ('${addDays(day, 1)}')`,
    );
  });
}

function deleteOldRows(database: Database, table: Table, oldest: string): Promise<number> {
  const defaultPartition = `${table}_other_days`;
  const remove = statement(
    `partitions.delete-old-${table}`,
    `DELETE FROM ${defaultPartition} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${defaultPartition} WHERE day < $1 LIMIT ${maxDeletedRows}))`,
  );
  return database.run(remove, [oldest]);
}

function daysBefore(oldest: string, names: ReadonlySet<string>): string[] {
  const days = [...names].flatMap((name) => {
    const match = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name);
    return match === null ? [] : [`${match[1]}-${match[2]}-${match[3]}`];
  });
  return [...new Set(days)].filter((day) => day < oldest).toSorted();
}

function partitionName(table: Table, day: string): string {
  return `${table}_${day.replaceAll('-', '_')}`;
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}
