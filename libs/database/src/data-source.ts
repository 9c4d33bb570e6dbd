import { DataSource, type MigrationInterface } from 'typeorm';
import { setColumnTypes } from './column-types.js';

/**
 * The client waits longer than PostgreSQL's own statement_timeout, so that PostgreSQL normally reports it
 * first.
 */
const clientTimeoutFactor = 1.2;

/**
 * A named statement keeps its plan until its tables are analysed. A plan made while a table is nearly empty
 * would use a sequential scan and keep it as the table grows. JIT compilation never pays off for the
 * statements of a service.
 */
const indexPlanOptions = '-c enable_seqscan=off -c jit=off';
const genericPlanOptions = ' -c plan_cache_mode=force_generic_plan';

export interface DataSourceSettings {
  readonly url: string;
  readonly poolSize: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Limit of one statement; 0 means none, for migrations and operator commands. */
  readonly statementTimeoutMs?: number;
  /**
   * Makes PostgreSQL use one generic plan per statement and connection. Otherwise it may plan each execution,
   * if it estimates a gain. The estimate is wrong for tables with many partitions (with a month of daily
   * partitions, planning takes twenty times as long as the statement) and for array parameters (an array
   * shorter than assumed looks like a gain, but planning costs twice as much as the lookup).
   */
  readonly forceGenericPlan?: boolean;
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/** TypeORM's data source: the connection pool and the migrations. Not connected yet. */
export function createDataSource({
  url,
  poolSize,
  applicationName,
  migrations,
  forceGenericPlan = false,
  statementTimeoutMs = 8_000, // well below the gateway's request timeout
}: DataSourceSettings): DataSource {
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
    connectTimeoutMS: 3_000,
    extra: {
      // Statements are sent without waiting for the results of earlier ones; each still awaits its own
      // result.
      pipeline: true,
      // A lost network must not block a request for ever, and an abandoned transaction must not keep its
      // locks.
      keepAlive: true,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 30_000,
      // Covers a silently lost network, over which PostgreSQL's own timeout error never arrives.
      ...(statementTimeoutMs === 0
        ? {}
        : {
            query_timeout: statementTimeoutMs * clientTimeoutFactor,
            options: forceGenericPlan ? indexPlanOptions + genericPlanOptions : indexPlanOptions,
          }),
    },
    poolErrorHandler: () => undefined, // the pool replaces a dead idle connection on the next use
  });
}
