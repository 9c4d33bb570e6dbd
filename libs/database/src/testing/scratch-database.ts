import { createDataSource, Database, type DataSourceSettings, migrate } from '../index.js';
import type { DataSource, MigrationInterface } from 'typeorm';
import { storeUrl, uniqueName } from '@fulfilment/testing';
import { withClient } from './with-client.js';

/** Long enough for a machine that runs several test files at once. */
export const patientTimeouts = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 } as const;

export interface ScratchDatabase {
  readonly url: string;
  readonly dataSource: DataSource;
  readonly database: Database;
  /** Terminates every connection to this database, as a restart of the server would. */
  endConnections(): Promise<void>;
  /** Closes the connections and drops the database. */
  drop(): Promise<void>;
}

/** Creates and migrates a database that only this test uses. */
export async function scratchDatabase(
  migrations: readonly (new () => MigrationInterface)[],
  settings: Partial<Omit<DataSourceSettings, 'url' | 'migrations'>> = {},
): Promise<ScratchDatabase> {
  const name = uniqueName('test');
  await administer(`CREATE DATABASE ${name}`);
  const url = new URL(storeUrl('TEST_POSTGRES_URL'));
  url.pathname = `/${name}`;
  const dataSource = createDataSource({
    url: url.href,
    poolSize: 20,
    applicationName: 'test',
    migrations,
    ...patientTimeouts,
    ...settings,
  });
  const drop = async (): Promise<void> => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await administer(`DROP DATABASE ${name} WITH (FORCE)`);
  };
  try {
    await dataSource.initialize();
    await migrate(dataSource);
  } catch (error) {
    await Promise.allSettled([drop()]);
    throw error;
  }
  return {
    url: url.href,
    dataSource,
    database: new Database(dataSource),
    endConnections: () =>
      administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`),
    drop,
  };
}

async function administer(sql: string): Promise<void> {
  await withClient(storeUrl('TEST_POSTGRES_URL'), (client) => client.query(sql));
}
