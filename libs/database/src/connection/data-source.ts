import { DataSource, type MigrationInterface } from 'typeorm';
import { setColumnTypes } from './column-types.js';
import { primaryOnly } from './primary-client.js';
import {
  type SessionOptions,
  sessionSettings,
  startupOptions,
  statementTimeoutOf,
} from './session-settings.js';

/** The client waits longer than PostgreSQL's statement_timeout, which therefore usually ends a statement. */
const clientTimeoutFactor = 1.2;
/** Short, since a request waits for a connection. */
const defaultConnectTimeoutMs = 3_000;
/** Long, since opening a connection delays a request, and its statements have to be prepared on it. */
const idleTimeoutMs = 600_000;
/** Below the time after which load balancers and firewalls silently drop idle connections (some minutes). */
const keepAliveDelayMs = 30_000;

export interface DataSourceSettings extends SessionOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Limit of opening a connection, and of waiting for a free one; by default 3 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether the pool may connect to a standby; by default it connects only to a primary. */
  readonly readsStandby?: boolean;
}

/** Creates TypeORM's data source, not connected yet. Also sets pg's type parsers for the whole process. */
export function createDataSource(settings: DataSourceSettings): DataSource {
  const { url, poolSize, applicationName, migrations, readsStandby = false } = settings;
  const { connectTimeoutMs = defaultConnectTimeoutMs } = settings;
  const statementTimeoutMs = statementTimeoutOf(settings);
  setColumnTypes();
  return new DataSource({
    type: 'postgres',
    url,
    poolSize,
    applicationName,
    migrations: [...migrations],
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    entities: [],
    logging: false,
    connectTimeoutMS: connectTimeoutMs,
    extra: {
      // Statements are sent without waiting for results of earlier ones; each still awaits its own result.
      pipeline: true,
      ...(readsStandby ? {} : primaryOnly),
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveDelayMs,
      idleTimeoutMillis: idleTimeoutMs,
      options: startupOptions(sessionSettings(settings)),
      // Covers a silently lost network, over which PostgreSQL's own timeout error never arrives.
      ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs * clientTimeoutFactor }),
    },
    poolErrorHandler: () => undefined, // the pool replaces a dead idle connection on the next use
  });
}
