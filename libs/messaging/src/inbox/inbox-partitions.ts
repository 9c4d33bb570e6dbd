import { formatUuid } from '@fulfilment/contracts';
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
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';

const table = 'inbox';
const defaultPartition = 'inbox_other_days';
const intervalMs = 60_000;
const daysAhead = 2;
/** Today and the last seven earlier days with a partition, even if it was created before an outage. */
const keptDays = 8;
/**
 * The inbox is locked while rows move from the default partition to a new one. If there are more rows to move
 * than this, none moves, and the partition is not created.
 */
const maxMovedRows = 20_000;
/** Arbitrary, equal for all replicas. */
const advisoryLock = 7_391_006;

/** Returns a UUID that is lower than each UUIDv7 of the day, and higher than those of earlier days. */
export function firstIdOf(day: string): string {
  const timestamp = Date.parse(day).toString(16).padStart(12, '0'); // 48 bits (RFC 9562 §5.7)
  return formatUuid(timestamp.padEnd(32, '0'));
}

/**
 * Partitions the inbox by the day in the message id, a UUIDv7. All copies of a message are in one partition,
 * so the primary key finds a repetition at any time. Ids that are no UUIDv7, or of a day without a partition,
 * go to the default partition.
 */
export class InboxPartitions extends BackgroundLoop {
  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
  ) {
    super({ name: 'inbox-partitions', intervalMs, logger, round: () => this.round() });
  }

  async round(): Promise<void> {
    const today = await currentDay(this.database);
    const names = await partitionsOf(this.database, table);
    for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
      const day = addDays(today, ahead);
      if (!names.has(dayPartition(table, day))) await this.tryChange(day, () => this.create(day));
    }
    for (const day of expiredDays(names, today)) await this.tryChange(day, () => this.drop(day));
  }

  private async tryChange(day: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn(
        { error, day },
        'A partition of the inbox could not be changed; will retry in a minute.',
      );
    }
  }

  private create(day: string): Promise<boolean> {
    return createMissingPartition(this.database, advisoryLock, {
      table,
      name: dayPartition(table, day),
      from: firstIdOf(day),
      to: firstIdOf(addDays(day, 1)),
      default: { partition: defaultPartition, column: 'message_id', maxMovedRows },
    });
  }

  /** Drops a day, but keeps the rows of messages that were not applied: they may be replayed. */
  private drop(day: string): Promise<boolean> {
    const name = dayPartition(table, day);
    return changePartitions(this.database, advisoryLock, async (run, tx) => {
      if (!(await partitionsOf(tx, table)).has(name)) return;
      await run(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
      await run(`INSERT INTO ${table} SELECT * FROM ${name} WHERE outcome <> 'applied'`);
      await run(
        `INSERT INTO inbox_dropped AS d (first_id, end_id) VALUES ('${firstIdOf(day)}', '${firstIdOf(addDays(day, 1))}')
         ON CONFLICT (only_row) DO UPDATE SET first_id = least(d.first_id, excluded.first_id),
           end_id = greatest(d.end_id, excluded.end_id)`,
      );
      await run(`DROP TABLE ${name}`);
    });
  }
}

/**
 * Returns the days with a partition, except future days and the last eight. Counts partitions, not days: a
 * stopped service creates no partitions, and its queues still contain messages of the days before it stopped.
 */
function expiredDays(names: ReadonlySet<string>, today: string): string[] {
  const days = [...names].flatMap((name) => dayOfPartition(name) ?? []);
  return days
    .filter((day) => day <= today)
    .toSorted()
    .slice(0, -keptDays);
}

const deleteExpired = statement(
  'inbox.delete-expired',
  `DELETE FROM ${defaultPartition} WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM ${defaultPartition} WHERE handled_at < now() - interval '30 days'
       AND (outcome = 'applied' OR handled_at < now() - interval '1 year') LIMIT 5000))`,
);

/**
 * Deletes rows of the default partition after 30 days, or after a year if the message was not applied.
 * Returns the number of deleted rows, at most 5,000.
 */
export function deleteExpiredInboxRows(database: Database): Promise<number> {
  return database.run(deleteExpired);
}
