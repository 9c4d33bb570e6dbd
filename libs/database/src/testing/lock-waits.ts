import { eventually } from '@fulfilment/testing';
import { type Database, statement } from '../index.js';

const readLockWaits = statement(
  'test.lock-waits',
  `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
);

/**
 * Resolves when statements wait for a lock in the database.
 * @param options `count`: at least this many; `query`: only statements whose text matches this LIKE pattern
 */
export async function untilLockWaits(database: Database, { count = 1, query = '%' } = {}): Promise<void> {
  await eventually(async () => (await database.rows(readLockWaits, [query])).length >= count);
}
