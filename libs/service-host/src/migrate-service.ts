import { connectProgram, createDataSource, migrate, verifyOwnSession } from '@fulfilment/database';
import { declareQueuesOf } from '@fulfilment/messaging';
import { createLogger, readConfig, serviceSettings } from '@fulfilment/runtime';
import type { MigrationInterface } from 'typeorm';
import { exitIfUnsuitable } from './exit-if-unsuitable.js';

const workload = 'operator'; // no statement timeout: creating an index on a large table takes long

/**
 * Migrates a service's database. With RABBITMQ_URL, also declares the queues that the service consumes, so
 * that they store messages before the service starts for the first time.
 */
export async function migrateService(
  name: string,
  migrations: readonly (new () => MigrationInterface)[],
): Promise<void> {
  const settings = readConfig(
    serviceSettings
      .pick({
        DATABASE_URL: true,
        DATABASE_DIRECT_URL: true,
        LOG_LEVEL: true,
        RABBITMQ_URL: true,
        RABBITMQ_NAMESPACE: true,
      })
      .partial({ RABBITMQ_URL: true }),
  );
  const logger = createLogger(name, settings.LOG_LEVEL);
  const dataSource = createDataSource({
    url: settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL,
    poolSize: 2, // one connection migrates; with the other, `changeConcurrently` ends sessions that block it
    applicationName: `${name} migrate`,
    migrations,
    workload,
  });
  await exitIfUnsuitable(logger, async () => {
    await connectProgram(dataSource, { workload });
    await verifyOwnSession(dataSource);
  });
  try {
    const applied = await migrate(dataSource);
    logger.info({ applied }, 'The database is up to date.');
  } finally {
    await dataSource.destroy();
  }
  const { RABBITMQ_URL: url, RABBITMQ_NAMESPACE: namespace } = settings;
  if (url === undefined) return logger.warn('RABBITMQ_URL is not set: no queues were declared.');
  const queues = await declareQueuesOf(name, { url, namespace });
  logger.info({ queues }, 'The queues are declared.');
}
