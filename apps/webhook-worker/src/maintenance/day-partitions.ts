import {
  addDays,
  changePartitions,
  createMissingPartition,
  currentDay,
  type Database,
  dayOfPartition,
  dayPartition,
  partitionsOf,
  statement,
} from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';
import { advisoryLocks } from '../advisory-locks.js';

/**
 * The tables of a day, in the order in which they are dropped: events last, so that no delivery is ever
 * without its body.
 */
const tables = ['webhook_deliveries', 'webhook_attempts', 'webhook_events'] as const;
type Table = (typeof tables)[number];
const daysAhead = 7;
const daysKept = 30;
/**
 * The table is locked while the rows of a day move from the default partition to a new one. If there are more
 * rows than this, they stay, and the day gets no partition.
 */
const maxMovedRows = 20_000;
const maxDeletedRows = 5_000;

/**
 * One statement for each table, which deletes expired rows from its default partition, once the default
 * partitions of the tables before it have none.
 */
const deletions = tables.map((table, index) => {
  const conditions = tables
    .slice(0, index)
    .map((before) => ` AND NOT EXISTS (SELECT FROM ${before}_other_days WHERE day < $1)`);
  return statement(
    `partitions.delete-old-${table}`,
    `DELETE FROM ${table}_other_days WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM ${table}_other_days WHERE day < $1 LIMIT ${maxDeletedRows}))${conditions.join('')}`,
  );
});

/**
 * Creates a partition for each day from yesterday to a week ahead, and moves rows of the day from the default
 * partition into it. Each is created on its own, so that a failure does not affect the others.
 */
export async function createDayPartitions(database: Database, logger: Logger): Promise<void> {
  const today = await currentDay(database);
  const names = await partitionsOf(database, ...tables);
  for (let offset = -1; offset <= daysAhead; offset += 1) {
    const day = addDays(today, offset);
    for (const table of tables) {
      if (names.has(dayPartition(table, day))) continue;
      await tryChange({ logger, action: 'created', table, day }, () => createDay(database, table, day));
    }
  }
}

/**
 * Drops the partitions of days more than 30 days ago, and deletes up to 5000 rows of these days from each
 * default partition. Returns the number of deleted rows.
 */
export async function deleteExpiredDays(database: Database, logger: Logger): Promise<number> {
  const oldest = addDays(await currentDay(database), -daysKept);
  const names = await partitionsOf(database, ...tables);
  for (const day of daysBefore(oldest, names)) {
    for (const table of tables) {
      const name = dayPartition(table, day);
      if (!names.has(name)) continue;
      const isDropped = await tryChange({ logger, action: 'dropped', table, day }, () =>
        changePartitions(database, advisoryLocks.dayPartitions, async (run) => {
          await run(`DROP TABLE IF EXISTS ${name}`);
        }),
      );
      if (!isDropped) break; // the other tables of the day are dropped in a later round
    }
  }
  let deleted = 0;
  for (const deletion of deletions) deleted += await database.run(deletion, [oldest]);
  return deleted;
}

interface Change {
  readonly logger: Logger;
  readonly action: 'created' | 'dropped';
  readonly table: Table;
  readonly day: string;
}

/**
 * Returns whether the change was made. False if another replica is changing partitions, or if it failed,
 * which is logged.
 */
async function tryChange(
  { logger, action, table, day }: Change,
  change: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await change();
  } catch (error) {
    logger.warn({ error, table, day }, `The partition of a day could not be ${action}; will retry.`);
    return false;
  }
}

function createDay(database: Database, table: Table, day: string): Promise<boolean> {
  return createMissingPartition(database, advisoryLocks.dayPartitions, {
    table,
    name: dayPartition(table, day),
    from: day,
    to: addDays(day, 1),
    default: { partition: `${table}_other_days`, column: 'day', maxMovedRows },
  });
}

function daysBefore(oldest: string, names: ReadonlySet<string>): string[] {
  const days = [...names].flatMap((name) => dayOfPartition(name) ?? []);
  return [...new Set(days)].filter((day) => day < oldest).toSorted();
}
