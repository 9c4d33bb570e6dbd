import { QueryFailedError, type QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { hasSqlState } from '../driver-errors.js';

// Every later statement on the table waits behind a pending lock request. The request therefore times out
// soon and is retried, so that other statements proceed in between. The last attempts wait longer than
// PostgreSQL's deadlock_timeout, after which an automatic vacuum yields its lock.
const attemptSeries = [
  { maxAttempts: 120, lockTimeout: '200ms' },
  { maxAttempts: 10, lockTimeout: '1500ms' },
];
const retryDelayMs = 300;
const lockConflictCodes = ['55P03', '40P01']; // lock_not_available, deadlock_detected

/** Maximum time that a statement of a migration waits for a lock, unless it sets another limit. */
export const maxLockTimeout = '1500ms';

/**
 * Runs schema changes in one transaction that waits at most 1.5 s for a lock. While other transactions hold
 * the locks, the whole transaction is retried for little more than a minute.
 *
 * @param description names the change in the error, which is thrown if the locks are not released in time
 */
export async function inBriefTransaction<Result>(
  runner: QueryRunner,
  description: string,
  work: () => Promise<Result>,
): Promise<Result> {
  for (const { maxAttempts, lockTimeout } of attemptSeries) {
    for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
      const done = await attempt(runner, lockTimeout, work);
      if (done !== undefined) return done.result;
      await delay(retryDelayMs);
    }
  }
  throw new Error(
    `Other transactions held the locks for too long. Run the migrations again. Not applied: ${description}`,
  );
}

/** Returns undefined when a lock was not available in time, or PostgreSQL ended a deadlock. */
async function attempt<Result>(
  runner: QueryRunner,
  lockTimeout: string,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
    const result = await work();
    await runner.commitTransaction();
    return { result };
  } catch (error) {
    if (!runner.isReleased) await runner.rollbackTransaction();
    const isLockConflict =
      error instanceof QueryFailedError && hasSqlState(error.driverError, lockConflictCodes);
    if (isLockConflict) return undefined;
    throw error;
  }
}
