import { eventually } from '@fulfilment/testing';
import { type Database, statement, type Transaction } from '../index.js';

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

/**
 * Holds a lock while it starts actions one after another, each when all earlier ones wait for a lock. Then
 * releases the lock, and returns the results of the actions.
 */
export function startWhileLocked<Results extends unknown[]>(
  database: Database,
  lock: (tx: Transaction) => Promise<unknown>,
  ...actions: { [Index in keyof Results]: () => Promise<Results[Index]> }
): Promise<Results>;
export async function startWhileLocked(
  database: Database,
  lock: (tx: Transaction) => Promise<unknown>,
  ...actions: (() => Promise<unknown>)[]
): Promise<unknown[]> {
  const started: Promise<unknown>[] = [];
  try {
    await database.transaction(async (tx) => {
      await lock(tx);
      for (const start of actions) {
        started.push(start());
        await untilLockWaits(database, { count: started.length });
      }
    });
  } finally {
    await Promise.allSettled(started);
  }
  return Promise.all(started);
}
