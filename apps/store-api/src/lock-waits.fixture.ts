import { type Database, statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';

const readLockWaits = statement(
  'test.lock-waits',
  `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

/** Resolves when at least this number of connections to the database wait for a lock. */
export async function untilLockWaits(database: Database, count = 1): Promise<void> {
  await eventually(async () => (await database.rows(readLockWaits)).length >= count);
}
