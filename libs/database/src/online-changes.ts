import type { QueryRunner } from 'typeorm';
import { inBriefTransaction } from './brief-transaction.js';

/**
 * An index of a partitioned table. Each partition has its own, named as PostgreSQL names it in later
 * partitions.
 */
export interface PartitionedIndex {
  readonly table: string;
  readonly name: string;
  /** The index of a partition is named `<partition><suffix>`. */
  readonly suffix: string;
  readonly kind: 'PRIMARY KEY' | 'UNIQUE INDEX' | 'INDEX';
  readonly columns: string;
  /** The WHERE clause of a partial index. */
  readonly condition?: string;
}

interface Partition {
  readonly name: string;
  /** Null while the partition does not have the index. */
  readonly valid: boolean | null;
  readonly constrained: boolean;
  readonly attached: boolean;
}

const partitions = `
  SELECT c.relname AS name,
    (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(c.relname || $3)) AS valid,
    EXISTS (SELECT FROM pg_constraint WHERE conindid = to_regclass(c.relname || $3)) AS constrained,
    EXISTS (SELECT FROM pg_inherits a JOIN pg_index x ON x.indexrelid = a.inhrelid
            WHERE a.inhparent = to_regclass($2) AND x.indrelid = c.oid) AS attached
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass ORDER BY c.relname`;
const validity = 'SELECT indisvalid AS answer FROM pg_index WHERE indexrelid = to_regclass($1)';
const columnExists = `
  SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2 AND NOT attisdropped) AS answer`;
const currentLockTimeout = "SELECT current_setting('lock_timeout') AS value";

/** Changes one table in a transaction of its own that never waits long for a lock. */
export async function changeBriefly(runner: QueryRunner, change: string): Promise<void> {
  await inBriefTransaction(runner, change, () => runner.query(change));
}

/**
 * Builds an index while services read and write the table. Rebuilds an invalid index that an interrupted
 * build left.
 */
export async function buildConcurrently(
  runner: QueryRunner,
  name: string,
  kind: 'UNIQUE INDEX' | 'INDEX',
  on: string,
): Promise<void> {
  if (await ask(runner, validity, [name])) return;
  await dropConcurrently(runner, name);
  await withoutLockTimeout(runner, `CREATE ${kind} CONCURRENTLY ${name} ON ${on}`);
}

/** Drops an index, if it exists, while services read and write the table. */
export async function dropConcurrently(runner: QueryRunner, name: string): Promise<void> {
  await withoutLockTimeout(runner, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

/**
 * Builds an index of a partitioned table while services read and write it. Builds the index of each partition
 * first, then that of the table, and attaches them (PostgreSQL cannot build one concurrently for all
 * partitions at once). Can be repeated after an interruption at any point.
 */
export async function buildForPartitions(runner: QueryRunner, index: PartitionedIndex): Promise<void> {
  for (;;) {
    for (const partition of await partitionsOf(runner, index)) {
      if (!partition.attached) await buildForPartition(runner, index, partition);
    }
    if ((await ask(runner, validity, [index.name])) === undefined) {
      await changeBriefly(runner, createOnTableOnly(index));
    }
    const detached = (await partitionsOf(runner, index)).filter((partition) => !partition.attached);
    for (const { name } of detached.filter((partition) => partition.valid)) {
      await changeBriefly(runner, `ALTER INDEX ${index.name} ATTACH PARTITION ${name}${index.suffix}`);
    }
    if (await ask(runner, validity, [index.name])) return;
    // All partitions are attached but the index is invalid: the partition whose index was missing was dropped
    // since an earlier run, and PostgreSQL validates an index only when a partition is attached.
    if (detached.length === 0) await changeBriefly(runner, dropFromTable(index));
  }
}

/** Returns the `answer` column of the single row; undefined when there is no row. */
export async function ask(
  runner: QueryRunner,
  query: string,
  parameters: readonly (string | number)[] = [],
): Promise<boolean | undefined> {
  const [row] = await rowsOf(runner, query, parameters);
  return row && booleanIn(row, 'answer');
}

export async function hasColumn(runner: QueryRunner, table: string, column: string): Promise<boolean> {
  return (await ask(runner, columnExists, [table, column])) ?? false;
}

/**
 * CONCURRENTLY waits for every open transaction. It blocks no other statement, and a timeout would leave an
 * invalid index.
 */
async function withoutLockTimeout(runner: QueryRunner, change: string): Promise<void> {
  const [setting] = await rowsOf(runner, currentLockTimeout, []);
  const before = typeof setting?.['value'] === 'string' ? setting['value'] : '0';
  await runner.query('SET lock_timeout = 0');
  try {
    await runner.query(change);
  } finally {
    if (!runner.isReleased) await runner.query(`SET lock_timeout = '${before}'`);
  }
}

async function buildForPartition(
  runner: QueryRunner,
  { suffix, kind, columns, condition }: PartitionedIndex,
  { name, constrained }: Partition,
): Promise<void> {
  const index = `${name}${suffix}`;
  const isKey = kind === 'PRIMARY KEY';
  await buildConcurrently(
    runner,
    index,
    isKey ? 'UNIQUE INDEX' : kind,
    `${name} (${columns})${where(condition)}`,
  );
  if (!isKey || constrained) return;
  await changeBriefly(runner, `ALTER TABLE ${name} ADD CONSTRAINT ${index} PRIMARY KEY USING INDEX ${index}`);
}

function createOnTableOnly({ table, name, kind, columns, condition }: PartitionedIndex): string {
  return kind === 'PRIMARY KEY'
    ? `ALTER TABLE ONLY ${table} ADD CONSTRAINT ${name} PRIMARY KEY (${columns})`
    : `CREATE ${kind} ${name} ON ONLY ${table} (${columns})${where(condition)}`;
}

function where(condition: string | undefined): string {
  return condition === undefined ? '' : ` WHERE ${condition}`;
}

function dropFromTable({ table, name, kind }: PartitionedIndex): string {
  return kind === 'PRIMARY KEY' ? `ALTER TABLE ${table} DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`;
}

async function partitionsOf(
  runner: QueryRunner,
  { table, name, suffix }: PartitionedIndex,
): Promise<readonly Partition[]> {
  const rows = await rowsOf(runner, partitions, [table, name, suffix]);
  return rows.map((row) => ({
    name: String(row['name']),
    valid: booleanIn(row, 'valid') ?? null,
    constrained: booleanIn(row, 'constrained') ?? false,
    attached: booleanIn(row, 'attached') ?? false,
  }));
}

type Row = Readonly<Record<string, unknown>>;

async function rowsOf(
  runner: QueryRunner,
  query: string,
  parameters: readonly (string | number)[],
): Promise<readonly Row[]> {
  const rows: unknown = await runner.query(query, [...parameters]);
  return Array.isArray(rows) ? rows.filter(isRow) : [];
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

function booleanIn(row: Row, column: string): boolean | undefined {
  const value = row[column];
  return typeof value === 'boolean' ? value : undefined;
}
