import { QueryFailedError, type QueryRunner } from 'typeorm';
import { z } from 'zod';
import { setTimeout as delay } from 'node:timers/promises';
import { advisoryLocks } from '../advisory-locks.js';

/** An index of a partitioned table; each partition has its own, named as PostgreSQL names it in those that are made later. */
export interface PartitionedIndex {
  readonly table: string;
  readonly name: string;
  /** A partition's is named by the partition and this. */
  readonly suffix: string;
  readonly kind: 'PRIMARY KEY' | 'UNIQUE INDEX' | 'INDEX';
  readonly columns: string;
}

const partitions = `
  SELECT c.relname AS name,
    -- Null while it has none.
    (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(c.relname || $3)) AS valid,
    EXISTS (SELECT FROM pg_constraint WHERE conindid = to_regclass(c.relname || $3)) AS constrained,
    EXISTS (SELECT FROM pg_inherits a JOIN pg_index x ON x.indexrelid = a.inhrelid
            WHERE a.inhparent = to_regclass($2) AND x.indrelid = c.oid) AS attached
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass ORDER BY c.relname`;
const partitionRows = z.array(
  z.object({
    name: z.string(),
    valid: z.boolean().nullable(),
    constrained: z.boolean(),
    attached: z.boolean(),
  }),
);
type Partition = z.infer<typeof partitionRows>[number];
const validity = 'SELECT indisvalid AS answer FROM pg_index WHERE indexrelid = to_regclass($1)';
const answers = z.array(z.object({ answer: z.boolean() })).max(1);

const askAgainMs = 100;

// A lock that is waited for makes all wait who come after it, so it is given up soon and asked for again: in between, they get on. Those of the
// last tries outwait PostgreSQL's deadlock_timeout, upon which a vacuum of its own gives way, of a large table after minutes otherwise.
const soon = { tries: 120, lockTimeout: '200ms' };
const atLast = { tries: 10, lockTimeout: '1500ms' };
const pauseMs = 300;
const refusal = z.object({ code: z.string() });
const standsInTheWay = new Set(['55P03', '40P01']); // lock_not_available, deadlock_detected

/** Does something while upkeep makes and drops no partitions (history/day-partitions.ts). The lock ends with the connection at the latest. */
export async function withPartitionsKept(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  while (!(await ask(runner, 'SELECT pg_try_advisory_lock($1) AS answer', [advisoryLocks.dayPartitions])))
    await delay(askAgainMs);
  try {
    await work();
  } finally {
    if (!runner.isReleased)
      await runner.query('SELECT pg_advisory_unlock($1)', [advisoryLocks.dayPartitions]);
  }
}

/** Changes one table, in a transaction of its own which waits for no lock for long: as often as it takes, for little more than a minute. */
export async function changeBriefly(runner: QueryRunner, change: string): Promise<void> {
  for (const { tries, lockTimeout } of [soon, atLast]) {
    for (let tried = 0; tried < tries; tried += 1) {
      if (await changed(runner, change, lockTimeout)) return;
      await delay(pauseMs);
    }
  }
  throw new Error(`Others held the locks for too long; run the migrations again. Not done: ${change}`);
}

/** Builds an index of one table beside those who write it; one that an interrupted build left is built anew. */
export async function buildConcurrently(
  runner: QueryRunner,
  name: string,
  kind: 'UNIQUE INDEX' | 'INDEX',
  on: string,
): Promise<void> {
  if (await ask(runner, validity, [name])) return;
  await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  await runner.query(`CREATE ${kind} CONCURRENTLY ${name} ON ${on}`);
}

/**
 * Builds an index of a partitioned table beside those who write it: first those of the partitions, then the table's, of which they become a part
 * (PostgreSQL builds none concurrently for all partitions at once). May be run again wherever it was interrupted.
 */
export async function buildForPartitions(runner: QueryRunner, index: PartitionedIndex): Promise<void> {
  for (;;) {
    for (const partition of await partitionsOf(runner, index)) {
      if (!partition.attached) await buildForPartition(runner, index, partition);
    }
    if ((await ask(runner, validity, [index.name])) === undefined) {
      await changeBriefly(runner, ofTableAlone(index));
    }
    const apart = (await partitionsOf(runner, index)).filter((partition) => !partition.attached);
    for (const { name } of apart.filter((partition) => partition.valid)) {
      await changeBriefly(runner, `ALTER INDEX ${index.name} ATTACH PARTITION ${name}${index.suffix}`);
    }
    if (await ask(runner, validity, [index.name])) return;
    // The partition whose index was missing is gone since an earlier run, and PostgreSQL looks at what there is only as one is attached.
    if (apart.length === 0) await changeBriefly(runner, withoutIndex(index));
  }
}

async function buildForPartition(
  runner: QueryRunner,
  { suffix, kind, columns }: PartitionedIndex,
  { name, constrained }: Partition,
): Promise<void> {
  const index = `${name}${suffix}`;
  const isKey = kind === 'PRIMARY KEY';
  await buildConcurrently(runner, index, isKey ? 'UNIQUE INDEX' : kind, `${name} (${columns})`);
  if (!isKey || constrained) return;
  await changeBriefly(runner, `ALTER TABLE ${name} ADD CONSTRAINT ${index} PRIMARY KEY USING INDEX ${index}`);
}

function ofTableAlone({ table, name, kind, columns }: PartitionedIndex): string {
  return kind === 'PRIMARY KEY'
    ? `ALTER TABLE ONLY ${table} ADD CONSTRAINT ${name} PRIMARY KEY (${columns})`
    : `CREATE ${kind} ${name} ON ONLY ${table} (${columns})`;
}

function withoutIndex({ table, name, kind }: PartitionedIndex): string {
  return kind === 'PRIMARY KEY' ? `ALTER TABLE ${table} DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`;
}

async function partitionsOf(
  runner: QueryRunner,
  { table, name, suffix }: PartitionedIndex,
): Promise<Partition[]> {
  return partitionRows.parse(await runner.query(partitions, [table, name, suffix]));
}

/** The `answer` column of the single row; undefined when there is no row. */
export async function ask(
  runner: QueryRunner,
  question: string,
  about: readonly (string | number)[] = [],
): Promise<boolean | undefined> {
  const [row] = answers.parse(await runner.query(question, [...about]));
  return row?.answer;
}

async function changed(runner: QueryRunner, change: string, lockTimeout: string): Promise<boolean> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
    await runner.query(change);
    await runner.commitTransaction();
    return true;
  } catch (error) {
    if (!runner.isReleased) await runner.rollbackTransaction();
    if (isInTheWay(error)) return false;
    throw error;
  }
}

function isInTheWay(error: unknown): boolean {
  const { success, data } = refusal.safeParse(
    error instanceof QueryFailedError ? error.driverError : undefined,
  );
  return success && standsInTheWay.has(data.code);
}
