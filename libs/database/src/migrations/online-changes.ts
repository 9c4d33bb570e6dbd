import type { QueryRunner } from 'typeorm';
import { inBriefTransaction, maxLockTimeout } from './brief-transaction.js';

/** Last word of the name of the connection that holds a replica's shards in one open transaction (ADR 48). */
export const shardsPurpose = 'shards';
const endSessionsIntervalMs = 1_000;

// The replica reconnects within a second. A role needs no privilege to end its own sessions.
const endShardSessions = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ANY(pg_blocking_pids($1)) AND application_name LIKE '% ${shardsPurpose}'`;

/** Changes one table in a transaction of its own that waits at most 1.5 s for a lock, and is retried. */
export async function changeWithLockTimeout(runner: QueryRunner, change: string): Promise<void> {
  await inBriefTransaction(runner, change, () => runner.query(change));
}

/**
 * Builds an index while services read and write the table. Rebuilds an invalid index of an interrupted build.
 * @param tableAndColumns as after ON: `orders (placed_at)`
 */
export async function buildConcurrently(
  runner: QueryRunner,
  name: string,
  kind: 'UNIQUE INDEX' | 'INDEX',
  tableAndColumns: string,
): Promise<void> {
  const isValid = 'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid';
  if ((await rowsOf(runner, isValid, [name])).length > 0) return;
  await dropConcurrently(runner, name);
  await changeConcurrently(runner, `CREATE ${kind} CONCURRENTLY ${name} ON ${tableAndColumns}`);
}

/**
 * Builds an index of a partitioned table while services read and write it: one index on each partition, which
 * is attached to the index of the table. A later partition gets its index when it is attached.
 * @param columns in parentheses
 */
export async function buildOnPartitionsConcurrently(
  runner: QueryRunner,
  name: string,
  table: string,
  columns: string,
): Promise<void> {
  await changeWithLockTimeout(runner, `CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${columns}`);
  const partitions = await rowsOf<{ name: string }>(
    runner,
    `SELECT partition.inhrelid::regclass::text AS name FROM pg_inherits partition
     WHERE partition.inhparent = to_regclass($1) AND NOT EXISTS (
       SELECT FROM pg_inherits attached JOIN pg_index ON indexrelid = attached.inhrelid
       WHERE attached.inhparent = to_regclass($2) AND indrelid = partition.inhrelid)`,
    [table, name],
  );
  for (const { name: partition } of partitions) {
    const partitionIndex = `${partition}_${name}`;
    try {
      await buildConcurrently(runner, partitionIndex, 'INDEX', `${partition} ${columns}`);
      await changeWithLockTimeout(runner, `ALTER INDEX ${name} ATTACH PARTITION ${partitionIndex}`);
    } catch (error) {
      // A service may drop an old partition at any time.
      if (await exists(runner, partition)) throw error;
    }
  }
}

async function exists(runner: QueryRunner, table: string): Promise<boolean> {
  return (await rowsOf(runner, 'SELECT WHERE to_regclass($1) IS NOT NULL', [table])).length > 0;
}

/** Drops an index, if it exists, while services read and write the table. */
export async function dropConcurrently(runner: QueryRunner, name: string): Promise<void> {
  await changeConcurrently(runner, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

/**
 * Runs a statement with CONCURRENTLY, which waits for open transactions. It blocks no other statement, and a
 * timeout would leave an invalid index, so it waits without limit. It terminates sessions that hold shards,
 * since their transactions stay open as long as their replica runs.
 */
async function changeConcurrently(runner: QueryRunner, change: string): Promise<void> {
  const [backend] = await rowsOf<{ pid: number }>(runner, 'SELECT pg_backend_pid() AS pid');
  await runner.query('SET lock_timeout = 0');
  // A failure, for example for lack of a privilege, only means that the change waits longer.
  const endingTimer = setInterval(
    () => void runner.connection.query(endShardSessions, [backend?.pid]).catch(() => undefined),
    endSessionsIntervalMs,
  );
  try {
    await runner.query(change);
  } finally {
    clearInterval(endingTimer);
    if (!runner.isReleased) await runner.query(`SET lock_timeout = '${maxLockTimeout}'`);
  }
}

/** Runs a query with the query runner, whose own method has no type for the rows. */
function rowsOf<Row>(runner: QueryRunner, query: string, values: unknown[] = []): Promise<Row[]> {
  return runner.connection.query<Row[]>(query, values, runner);
}
