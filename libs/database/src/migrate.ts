import type { DataSource, QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';

const migrationLock = 7_391_002; // any number, the same for all replicas of a service
const askAgainMs = 100;

/** Applies what is pending, once however many replicas start it together. Answers the names of what was applied. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  // Asked for, not waited for: who waits has a snapshot all the while, for whose end CREATE INDEX CONCURRENTLY of the other would wait in turn.
  try {
    while (!(await hasLock(runner))) await delay(askAgainMs);
    const applied = await dataSource.runMigrations();
    return applied.map((migration) => migration.name);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
    await runner.release();
  }
}

async function hasLock(runner: QueryRunner): Promise<boolean> {
  const rows: unknown = await runner.query(
    'SELECT FROM (SELECT pg_try_advisory_lock($1) AS mine) AS asked WHERE mine',
    [migrationLock],
  );
  return Array.isArray(rows) && rows.length === 1;
}
