import { createDataSource, migrate } from '@fulfilment/database';
import { createLogger, readConfig, serviceSettings } from '@fulfilment/runtime';
import type { MigrationInterface } from 'typeorm';

/** The program that brings a service's database up to date and ends. Needs DATABASE_URL only. */
export async function migrateService(
  name: string,
  migrations: readonly (new () => MigrationInterface)[],
): Promise<void> {
  const settings = readConfig(serviceSettings.pick({ DATABASE_URL: true, LOG_LEVEL: true }));
  const dataSource = createDataSource({
    url: settings.DATABASE_URL,
    poolSize: 2, // one holds the lock, one migrates
    applicationName: `${name} migrate`,
    migrations,
    statementTimeoutMs: 0, // an index on a grown table takes its time
  });
  await dataSource.initialize();
  try {
    const applied = await migrate(dataSource);
    createLogger(name, settings.LOG_LEVEL).info({ applied }, 'The database is up to date.');
  } finally {
    await dataSource.destroy();
  }
}
