import { type Database, statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';

const countWaiting = statement(
  'test.waiting',
  `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

/** Waits until this many statements wait for a lock. */
export async function waitingForLocks(database: Database, count: number): Promise<void> {
  await eventually(
    async () => (await database.row<{ count: number }>(countWaiting))?.count === count || undefined,
  );
}
