import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { inBriefTransaction, maxLockTimeout } from './brief-transaction.js';

const migrationLock = 7_391_002; // any number, the same for all replicas of a service
const retryDelayMs = 100;

/**
 * Applies pending migrations once, even if several replicas start it at the same time, while services read
 * and write. Returns the names of the applied migrations. A migration runs in one brief transaction, unless
 * it sets `transaction = false`. Only CONCURRENTLY waits for a lock for longer than 1.5 s.
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    // Polls: a session that waits for the lock holds a snapshot, and CREATE INDEX CONCURRENTLY in the session
    // with the lock waits for that snapshot to end.
    while (!(await tryLock(runner))) await delay(retryDelayMs);
    await runner.query(`SET lock_timeout = '${maxLockTimeout}'`);
    return await applyPending(dataSource, runner);
  } finally {
    if (!runner.isReleased) {
      await runner.query('RESET lock_timeout');
      await runner.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
      await runner.release();
    }
  }
}

async function applyPending(dataSource: DataSource, runner: QueryRunner): Promise<string[]> {
  const executor = new MigrationExecutor(dataSource, runner);
  const pending = await executor.getPendingMigrations();
  const executed = await executor.getExecutedMigrations();
  const baseline = dataSource.migrations[0]?.name;
  if (executed.length > 0 && pending.some(({ name }) => name === baseline)) {
    throw new Error(
      'The database was created by a baseline that this version does not have. Use an empty database. On a development machine: npm run reset, then npm start.',
    );
  }
  const applied: string[] = [];
  for (const migration of pending) {
    const apply = () => executor.executeMigration(migration);
    if (migration.instance?.transaction === false) await apply();
    else await inBriefTransaction(runner, migration.name, apply);
    applied.push(migration.name);
  }
  return applied;
}

async function tryLock(runner: QueryRunner): Promise<boolean> {
  const [attempt] = await runner.connection.query<{ acquired: boolean }[]>(
    'SELECT pg_try_advisory_lock($1) AS acquired',
    [migrationLock],
    runner,
  );
  return attempt?.acquired === true;
}
