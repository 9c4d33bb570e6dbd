import type { Database } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { testStatement } from './test-statement.js';

const countLockWaits = testStatement(
  `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

/** Resolves when at least this many statements wait for a lock. */
export async function waitForLocks(database: Database, count: number): Promise<void> {
  await eventually(
    async () => ((await database.row<{ count: number }>(countLockWaits))?.count ?? 0) >= count,
  );
}
