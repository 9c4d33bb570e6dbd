import type { Database } from './database.js';
import { type Sql, statement } from './sql.js';

const dayMs = 86_400_000;

/**
 * Runs a statement that changes partitions or their rows, and returns the number of rows. DDL takes no
 * parameters, so names and bounds are part of the text: they never come from a request.
 */
export type RunChange = (text: string) => Promise<number>;

export interface NewPartition {
  readonly table: string;
  readonly name: string;
  /** First value of the partition key, as a literal without quotes. */
  readonly from: string;
  /** The first value after the partition. */
  readonly to: string;
  /** The default partition, if any: the rows of the new partition are moved out of it. */
  readonly default?: {
    readonly partition: string;
    /** The partition key. */
    readonly column: string;
    /** Maximum number of rows to move. The table is locked during the move, for well under a second. */
    readonly maxMovedRows: number;
  };
  /** SQL statements that change the new partition before it is attached, e.g. create its triggers. */
  readonly prepare?: readonly string[];
}

// Other statements queue behind a pending lock request. So a change fails soon, to be retried later.
const setLockTimeout = statement('partitions.set-lock-timeout', "SET LOCAL lock_timeout = '200ms'");
const tryLock = statement('partitions.try-lock', 'SELECT pg_try_advisory_xact_lock($1) AS acquired');
const readPartitions = statement(
  'partitions.attached',
  `SELECT child.relname AS name FROM pg_inherits i JOIN pg_class child ON child.oid = i.inhrelid
   WHERE i.inhparent = ANY($1::text[]::regclass[])`,
);
const readToday = statement('partitions.today', "SELECT (now() AT TIME ZONE 'UTC')::date AS day");

/**
 * Changes partitions in one transaction, in one replica at a time; others skip it. Waits at most 200 ms for a
 * lock.
 *
 * @param advisoryLock key of the tables' lock, the same in all versions of the service
 * @returns whether this replica ran `work`
 */
export function changePartitions(
  database: Database,
  advisoryLock: number,
  work: (run: RunChange, tx: Sql) => Promise<void>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const lock = await tx.row<{ acquired: boolean }>(tryLock, [advisoryLock]);
    if (lock?.acquired !== true) return false;
    await tx.run(setLockTimeout);
    // Statements without a name are not prepared.
    await work((text) => tx.run({ name: '', text }), tx);
    return true;
  });
}

/** Returns the names of the partitions of tables. */
export async function partitionsOf(sql: Sql, ...tables: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.rows<{ name: string }>(readPartitions, [tables]);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Creates a partition, unless it exists, as `createPartition` does.
 * @returns false if another replica is changing partitions, so nothing was done
 */
export function createMissingPartition(
  database: Database,
  advisoryLock: number,
  partition: NewPartition,
): Promise<boolean> {
  return changePartitions(database, advisoryLock, async (run, tx) => {
    if (!(await partitionsOf(tx, partition.table)).has(partition.name)) await createPartition(run, partition);
  });
}

/**
 * Creates the partition before it locks the table, so that work on the table stops for milliseconds only. If
 * there is a default partition, the lock keeps rows of the new partition out of it until the attachment.
 *
 * @throws when the default partition has too many rows to move: they stay there, which is correct but slower
 */
export async function createPartition(run: RunChange, partition: NewPartition): Promise<void> {
  const { table, name, from, to, prepare = [] } = partition;
  await run(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
  for (const change of prepare) await run(change);
  if (partition.default !== undefined) await moveFromDefault(run, partition, partition.default);
  await run(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

async function moveFromDefault(
  run: RunChange,
  { table, name, from, to }: NewPartition,
  { partition: defaultPartition, column, maxMovedRows }: NonNullable<NewPartition['default']>,
): Promise<void> {
  const newPartitionCondition = `${column} >= '${from}' AND ${column} < '${to}'`;
  await run(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`);
  const rowCount = await run(
    `SELECT FROM ${defaultPartition} WHERE ${newPartitionCondition} LIMIT ${maxMovedRows + 1}`,
  );
  if (rowCount > maxMovedRows)
    throw new Error(
      `${name} was not created: more than ${maxMovedRows} of its rows are in the default partition ${defaultPartition}.`,
    );
  if (rowCount === 0) return;
  await run(
    `WITH moved AS (DELETE FROM ${defaultPartition} WHERE ${newPartitionCondition} RETURNING *) INSERT INTO ${name} SELECT * FROM moved`,
  );
}

/** Returns the day by the clock of PostgreSQL, UTC, as `YYYY-MM-DD`. */
export async function currentDay(sql: Sql): Promise<string> {
  const row = await sql.row<{ day: string }>(readToday);
  if (row === undefined) throw new Error('PostgreSQL returned no date.');
  return row.day;
}

/** @param day as `YYYY-MM-DD`; the result has the same form */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}

/** Returns the name of a table's partition for a day (`YYYY-MM-DD`). */
export function dayPartition(table: string, day: string): string {
  return `${table}_${day.replaceAll('-', '_')}`;
}

/** Returns the day of a partition that `dayPartition` named; undefined for another. */
export function dayOfPartition(name: string): string | undefined {
  const match = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name);
  return match === null ? undefined : `${match[1]}-${match[2]}-${match[3]}`;
}
