import type { DataSource } from 'typeorm';

const migrationLock = 7_391_002; // any number, the same for all replicas of a service

/** Applies what is pending, once however many replicas start it together. Answers the names of what was applied. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    const applied = await dataSource.runMigrations();
    return applied.map((migration) => migration.name);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
    await runner.release();
  }
}
