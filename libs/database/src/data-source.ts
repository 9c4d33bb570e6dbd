import { DataSource, type MigrationInterface } from 'typeorm';
import { setColumnTypes } from './column-types.js';

/** PostgreSQL ends a statement that takes too long by itself, and says so; only after that nothing is expected any more. */
const answerFactor = 1.2;

/**
 * A named statement keeps its plan until its tables are analysed. One that is planned while a table is nearly empty would read the whole of it,
 * and go on doing so as it grows. Nor is a statement of a service ever worth compiling.
 */
const plansByIndex = '-c enable_seqscan=off -c jit=off';
const plansForAny = ' -c plan_cache_mode=force_generic_plan';

export interface DataSourceSettings {
  readonly url: string;
  readonly poolSize: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** How long one statement may take; 0 is without end, for migrations and the operator's programs. */
  readonly statementTimeoutMs?: number;
  /**
   * Whether a statement has one plan a connection, whatever it is given; else PostgreSQL may plan it each time, if it expects to win by that. It
   * misjudges it where tables have many partitions (with a month of days such planning takes twenty times as long as the statement), and where
   * arrays say what is wanted: fewer keys than it supposes look like a win, and planning costs twice what finding them does.
   */
  readonly onePlan?: boolean;
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/** TypeORM's data source: the connection pool and the migrations. Not connected yet. */
export function createDataSource({
  url,
  poolSize,
  applicationName,
  migrations,
  onePlan = false,
  statementTimeoutMs = 8_000, // well before the gateway gives a request up
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
      // A connection takes a statement while another is under way; each still waits for its own answer.
      pipeline: true,
      // A lost network must not hold a request for ever; a forgotten transaction must not hold its locks.
      keepAlive: true,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 30_000,
      // Nor a network that is lost without a word, on which PostgreSQL's own time-out never arrives.
      ...(statementTimeoutMs === 0
        ? {}
        : {
            query_timeout: statementTimeoutMs * answerFactor,
            options: onePlan ? plansByIndex + plansForAny : plansByIndex,
          }),
    },
    poolErrorHandler: () => undefined, // an idle connection that died is replaced on the next use
  });
}
