import type { Database } from '@fulfilment/database';
import { statement, type Transaction } from '@fulfilment/database';

const tables = ['webhook_deliveries', 'webhook_attempts', 'webhook_events'] as const;
const daysAhead = 7;
const daysKept = 30;
const dayMs = 86_400_000;

const takeTurn = statement('partitions.take-turn', 'SELECT pg_try_advisory_xact_lock(7391051) AS mine');
const today = statement('partitions.today', "SELECT (now() AT TIME ZONE 'UTC')::date AS day");
const existing = statement(
  'partitions.existing',
  `SELECT child.relname AS name FROM pg_inherits i JOIN pg_class child ON child.oid = i.inhrelid
   WHERE i.inhparent = ANY(ARRAY['webhook_deliveries', 'webhook_attempts', 'webhook_events']::regclass[])`,
);
// A partition is made or dropped at once or the next hour: never by keeping deliveries waiting behind a queue of locks.
const doNotWait = statement('partitions.do-not-wait', "SET LOCAL lock_timeout = '2s'");

/** A partition for each day, from yesterday to a week ahead. */
export async function createDayPartitions(database: Database): Promise<void> {
  await withTurn(database, async (tx, day, names) => {
    for (const offset of Array.from({ length: daysAhead + 2 }, (_, index) => index - 1)) {
      const from = addDays(day, offset);
      for (const table of tables) {
        if (!names.has(partitionName(table, from)))
          await tx.run(createPartition(table, from, addDays(from, 1)));
      }
    }
  });
}

/** Drops whole days of more than 30 days ago, whatever their size, and forgets what lies in no day's partition as late. */
export async function dropOldDays(database: Database): Promise<void> {
  await withTurn(database, async (tx, day, names) => {
    const oldest = addDays(day, -daysKept);
    const old = [...names].filter((name) => {
      const of = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name);
      return of !== null && `${of[1]}-${of[2]}-${of[3]}` < oldest;
    });
    for (const name of old) await tx.run({ name: '', text: `DROP TABLE ${name}` });
    for (const table of tables) {
      await tx.run(
        statement(`partitions.forget-${table}`, `DELETE FROM ${table}_other_days WHERE day < $1`),
        [oldest],
      );
    }
  });
}

async function withTurn(
  database: Database,
  work: (tx: Transaction, day: string, names: ReadonlySet<string>) => Promise<void>,
): Promise<void> {
  await database.transaction(async (tx) => {
    const turn = await tx.row<{ mine: boolean }>(takeTurn);
    if (turn?.mine !== true) return;
    await tx.run(doNotWait);
    const now = await tx.row<{ day: string }>(today);
    const rows = await tx.rows<{ name: string }>(existing);
    if (now !== undefined) await work(tx, now.day, new Set(rows.map((row) => row.name)));
  });
}

/** DDL takes no parameters; the names are made of a fixed table and a date. An unnamed statement is not kept. */
function createPartition(table: (typeof tables)[number], from: string, to: string) {
  const name = partitionName(table, from);
  return {
    name: '',
    text: `CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')`,
  };
}

function partitionName(table: string, day: string): string {
  return `${table}_${day.replaceAll('-', '_')}`;
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}
