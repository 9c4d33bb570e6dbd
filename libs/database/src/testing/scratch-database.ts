import { createDataSource, Database, type DataSourceSettings, migrate } from '../index.js';
import type { DataSource, MigrationInterface } from 'typeorm';
import { storeUrl, uniqueName } from '@fulfilment/testing';
import pg from 'pg';

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

type Migrations = readonly (new () => MigrationInterface)[];

/** Creates and migrates a database that only this test uses. */
export async function scratchDatabase(
  migrations: Migrations,
  settings: Partial<Omit<DataSourceSettings, 'url' | 'migrations'>> = {},
): Promise<ScratchDatabase> {
  const template = await templateOf(migrations);
  const name = uniqueName('test');
  // Faster than the default strategy, which writes each block to the write-ahead log.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const dataSource = createDataSource({
    url: urlOf(name),
    poolSize: 20,
    applicationName: 'test',
    migrations,
    ...patientTimeouts,
    ...settings,
  });
  const drop = () => closeAndDrop(dataSource, name);
  try {
    await dataSource.initialize();
  } catch (error) {
    await Promise.allSettled([drop()]);
    throw error;
  }
  return {
    url: urlOf(name),
    dataSource,
    database: new Database(dataSource),
    endConnections: () =>
      administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`),
    drop,
  };
}

/** Migrated databases that are copied, which takes a quarter of the time of the migrations. */
const templates = new Map<Migrations, Promise<string>>();

process.once('beforeExit', () => {
  for (const template of templates.values()) void template.then(dropDatabase);
});

/** Returns the name of the template of these migrations. Creates it at the first call with this array. */
function templateOf(migrations: Migrations): Promise<string> {
  if (migrations.length === 0) return Promise.resolve('template1');
  const existing = templates.get(migrations);
  if (existing !== undefined) return existing;
  const created = createTemplate(migrations);
  templates.set(migrations, created);
  created.catch(() => templates.delete(migrations)); // the next call tries again
  return created;
}

async function createTemplate(migrations: Migrations): Promise<string> {
  const name = uniqueName('template');
  await administer(`CREATE DATABASE ${name}`);
  const dataSource = createDataSource({
    url: urlOf(name),
    poolSize: 1,
    applicationName: 'migrate',
    migrations,
    ...patientTimeouts,
  });
  try {
    await dataSource.initialize();
    await migrate(dataSource);
    await dataSource.destroy();
    return name;
  } catch (error) {
    await Promise.allSettled([closeAndDrop(dataSource, name)]);
    throw error;
  }
}

function urlOf(database: string): string {
  const url = new URL(storeUrl('TEST_POSTGRES_URL'));
  url.pathname = `/${database}`;
  return url.href;
}

async function closeAndDrop(dataSource: DataSource, name: string): Promise<void> {
  if (dataSource.isInitialized) await dataSource.destroy();
  await dropDatabase(name);
}

async function dropDatabase(name: string): Promise<void> {
  await administer(`DROP DATABASE ${name} WITH (FORCE)`);
}

/** Holds one connection, which does not keep the process running. */
let administration: pg.Pool | undefined;

async function administer(sql: string): Promise<void> {
  administration ??= new pg.Pool({
    connectionString: storeUrl('TEST_POSTGRES_URL'),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  await administration.query(sql);
}
