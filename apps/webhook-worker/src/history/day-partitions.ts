import { type Database, type Sql, statement, type Transaction } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';
import { advisoryLocks } from '../advisory-locks.js';

/** In the order a day is dropped: what is sent goes last, so no delivery is ever without its body. */
const tables = ['webhook_deliveries', 'webhook_attempts', 'webhook_events'] as const;
type Table = (typeof tables)[number];
const daysAhead = 7;
const daysKept = 30;
const dayMs = 86_400_000;
/** Rows of a day that may be moved at most: nobody can use the table meanwhile, for well under a second. */
const mostMoved = 20_000;
const mostForgotten = 5_000;

const takeTurn = statement(
  'partitions.take-turn',
  `SELECT pg_try_advisory_xact_lock(${advisoryLocks.dayPartitions}) AS mine`,
);
const today = statement('partitions.today', "SELECT (now() AT TIME ZONE 'UTC')::date AS day");
const existing = statement(
  'partitions.existing',
  `SELECT child.relname AS name FROM pg_inherits i JOIN pg_class child ON child.oid = i.inhrelid
   WHERE i.inhparent = ANY(ARRAY['webhook_deliveries', 'webhook_attempts', 'webhook_events']::regclass[])`,
);
// A partition that cannot be made or dropped at once is left for a minute later: whoever came after a lock that is waited for would wait, too.
const doNotWait = statement('partitions.do-not-wait', "SET LOCAL lock_timeout = '200ms'");

/**
 * Makes a partition for each day from yesterday to a week ahead; rows that were written for a day before it had one move in. Each is made on its own,
 * so that one that cannot be made keeps no other from it.
 */
export async function createDayPartitions(database: Database, logger: Logger): Promise<void> {
  const [day, names] = [await dayOfToday(database), await partitions(database)];
  for (const offset of Array.from({ length: daysAhead + 2 }, (_, index) => index - 1)) {
    for (const table of tables) {
      const from = addDays(day, offset);
      if (names.has(partitionName(table, from))) continue;
      await attempt(logger, 'made', table, from, () => createPartition(database, table, from));
    }
  }
}

/** Drops whole days of more than 30 days ago, whatever their size, and deletes rows as old that lie in no day's partition, 5000 at a time. */
export async function dropOldDays(database: Database, logger: Logger): Promise<void> {
  const [oldest, names] = [addDays(await dayOfToday(database), -daysKept), await partitions(database)];
  for (const old of daysBefore(oldest, names)) {
    for (const table of tables) {
      const name = partitionName(table, old);
      if (!names.has(name)) continue;
      const dropped = await attempt(logger, 'dropped', table, old, () =>
        inTurn(database, (tx) => tx.run({ name: '', text: `DROP TABLE IF EXISTS ${name}` })),
      );
      if (!dropped) break; // the day's other tables are dropped with it, the next time
    }
  }
  for (const table of tables) await forget(database, table, oldest);
}

async function dayOfToday(sql: Sql): Promise<string> {
  const now = await sql.row<{ day: string }>(today);
  if (now === undefined) throw new Error('PostgreSQL did not say what day it is.');
  return now.day;
}

async function partitions(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql.rows<{ name: string }>(existing);
  return new Set(rows.map((row) => row.name));
}

async function attempt(
  logger: Logger,
  what: string,
  table: Table,
  day: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    logger.warn({ error, table, day }, `The partition of a day could not be ${what}; it is tried again.`);
    return false;
  }
}

/** Only one replica at a time; the others do nothing. */
async function inTurn(database: Database, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  await database.transaction(async (tx) => {
    const turn = await tx.row<{ mine: boolean }>(takeTurn);
    if (turn?.mine !== true) return;
    await tx.run(doNotWait);
    await work(tx);
  });
}

/**
 * The partition is made before the table is locked, so work on it stops for some milliseconds only. It has to stop: a row on its way into the
 * default partition while the day gets one of its own would be refused. DDL takes no parameters; the names are made of a fixed table
 * and a date. A statement without a name is not kept prepared.
 *
 * @throws when a day has too many rows outside to be moved while others wait: they stay where they are, which works, but is slower
 */
async function createPartition(database: Database, table: Table, day: string): Promise<void> {
  const [name, outside] = [partitionName(table, day), `${table}_other_days`];
  await inTurn(database, async (tx) => {
    if ((await partitions(tx)).has(name)) return;
    const run = (text: string): Promise<number> => tx.run({ name: '', text });
    await run(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
    await run(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`);
    const toMove = await run(`SELECT FROM ${outside} WHERE day = '${day}' LIMIT ${mostMoved + 1}`);
    if (toMove > mostMoved) throw new Error(`More than ${mostMoved} rows of the day lie in ${outside}.`);
    await run(`WITH moved AS (DELETE FROM ${outside} WHERE day = '${day}' RETURNING *)
      INSERT INTO ${name} SELECT * FROM moved`);
    await run(
      `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${day}') TO ('${addDays(day, 1)}')`,
    );
  });
}

async function forget(database: Database, table: Table, oldest: string): Promise<void> {
  const outside = `${table}_other_days`;
  const remove = statement(
    `partitions.forget-${table}`,
    `DELETE FROM ${outside} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${outside} WHERE day < $1 LIMIT ${mostForgotten}))`,
  );
  await database.run(remove, [oldest]);
}

function daysBefore(oldest: string, names: ReadonlySet<string>): string[] {
  const days = [...names].flatMap((name) => {
    const of = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name);
    return of === null ? [] : [`${of[1]}-${of[2]}-${of[3]}`];
  });
  return [...new Set(days)].filter((day) => day < oldest).toSorted();
}

function partitionName(table: Table, day: string): string {
  return `${table}_${day.replaceAll('-', '_')}`;
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}
