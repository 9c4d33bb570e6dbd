import type { DataSource, QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../database.js';
import { hasSqlState, isRejectedStartupParameter } from '../driver-errors.js';
import { poolOf } from './pg-internals.js';
import { measurePool } from './pool-gauges.js';
import { type SessionOptions, sessionSettings } from './session-settings.js';
import { statement } from '../sql.js';

const retryDelayMs = 500;
/** A single check on a busy pooler may miss that two connections share a session of the server. */
const checkCount = 5;
const seeRunbook = 'See "Connection poolers" in docs/runbook.md.';
const useDirectUrl = `This program needs a direct connection: set DATABASE_DIRECT_URL. ${seeRunbook}`;

const findDifferences = `
  SELECT name || ' is ' || setting AS difference,
    format('ALTER ROLE %I IN DATABASE %I SET %I = %L;', current_user, current_database(), name, wanted) AS change
  FROM jsonb_each_text($1::jsonb) AS needed (name, wanted) JOIN pg_settings USING (name)
  WHERE setting <> wanted ORDER BY name`;
const readBackendPid = 'SELECT pg_backend_pid() AS pid';
const readIdentity =
  'SELECT system_identifier::text, current_database() AS database FROM pg_control_system()';
const runNamedStatement = statement('database.named-statement', 'SELECT 1');
/** duplicate_prepared_statement, invalid_sql_statement_name */
const namedStatementErrors = ['42P05', '26000'];

/**
 * The connection lacks something that the program needs, usually because of a connection pooler. A retry
 * does not help; the message says what to change.
 */
export class UnsuitableConnection extends Error {
  override readonly name = 'UnsuitableConnection';
}

/**
 * Retries until the pool of a service is connected: a service may start before its database.
 * @param onFailure called with the error of each failed attempt
 * @throws UnsuitableConnection if a connection pooler rejects or drops the settings of the session
 */
export async function connectWhenUp(
  dataSource: DataSource,
  options: SessionOptions,
  onFailure: (error: unknown) => void,
): Promise<void> {
  await retryWhileDown(async () => {
    await initialize(dataSource, `Add it to ignore_startup_parameters. ${seeRunbook}`);
    measurePool(poolOf(dataSource));
    const differences = await readDifferences(dataSource, options);
    if (differences.length === 0) return;
    throw new UnsuitableConnection(
      `${joinDifferences(differences)}: a connection pooler, or "options" in the URL, dropped what the service sets at start-up. Run ${differences.map(({ change }) => change).join(' ')} Then reconnect the pooler. ${seeRunbook}`,
    );
  }, onFailure);
}

/**
 * Verifies that named statements work, which a transaction pooler may not support.
 * @param databases at least two connected pools of one URL
 * @throws UnsuitableConnection if they do not work
 */
export async function verifyNamedStatements(
  databases: readonly Database[],
  onFailure: (error: unknown) => void,
): Promise<void> {
  await retryWhileDown(async () => {
    try {
      for (let check = 0; check < checkCount; check += 1)
        for (const database of databases) await database.rows(runNamedStatement);
    } catch (error) {
      if (!hasSqlState(error, namedStatementErrors)) throw error;
      throw new UnsuitableConnection(
        `Named prepared statements do not work over this connection. PgBouncer in transaction mode needs version 1.21 and max_prepared_statements = 500. ${seeRunbook}`,
        { cause: error },
      );
    }
  }, onFailure);
}

/**
 * Retries until a read replica is connected.
 * @throws UnsuitableConnection as `connectWhenUp` does, and if `replica` leads to another database than
 *   `primary`
 */
export async function connectReplicaWhenUp(
  primary: DataSource,
  replica: DataSource,
  options: SessionOptions,
  onFailure: (error: unknown) => void,
): Promise<void> {
  await connectWhenUp(replica, options, onFailure);
  await retryWhileDown(async () => {
    const primaryIdentity = await readAsText(primary, readIdentity);
    if ((await readAsText(replica, readIdentity)) !== primaryIdentity)
      throw new UnsuitableConnection(
        'DATABASE_READ_URL does not lead to a replica of the database in DATABASE_URL.',
      );
  }, onFailure);
}

/**
 * Connects a program that needs the settings of its own session. Does not retry. Closes the data source if
 * it throws.
 * @throws UnsuitableConnection if a connection pooler rejects or drops the settings
 */
export async function connectProgram(dataSource: DataSource, options: SessionOptions): Promise<void> {
  await initialize(dataSource, useDirectUrl);
  try {
    const differences = await readDifferences(dataSource, options);
    if (differences.length > 0)
      throw new UnsuitableConnection(`${joinDifferences(differences)}. ${useDirectUrl}`);
  } catch (error) {
    await dataSource.destroy(); // its idle connections would keep the program running
    throw error;
  }
}

/**
 * Verifies that each of two connections has one session of its own, which session locks need. Behind a
 * transaction pooler, both may share a session, or one of them may use several.
 * @throws UnsuitableConnection if a connection has no session of its own
 */
export async function verifyOwnSession(dataSource: DataSource): Promise<void> {
  const runners = [dataSource.createQueryRunner(), dataSource.createQueryRunner()] as const;
  try {
    const sessionsSeen = [new Set<string>(), new Set<string>()] as const;
    for (let check = 0; check < checkCount; check += 1) {
      sessionsSeen[0].add(await readAsText(runners[0], readBackendPid));
      sessionsSeen[1].add(await readAsText(runners[1], readBackendPid));
    }
    const sessions = new Set([...sessionsSeen[0], ...sessionsSeen[1]]);
    if (sessions.size === 2 && sessionsSeen.every(({ size }) => size === 1)) return;
    throw new UnsuitableConnection(
      `The connection goes through a pooler in transaction mode, which cannot hold the lock of migrations. ${useDirectUrl}`,
    );
  } finally {
    for (const runner of runners) await runner.release();
  }
}

async function initialize(dataSource: DataSource, remedy: string): Promise<void> {
  if (dataSource.isInitialized) return;
  try {
    await dataSource.initialize();
  } catch (error) {
    if (!isRejectedStartupParameter(error)) throw error;
    throw new UnsuitableConnection(
      `The connection pooler rejects the start-up parameter "options". ${remedy}`,
      { cause: error },
    );
  }
}

interface Difference {
  readonly difference: string;
  /** Statement that sets the value on the server. */
  readonly change: string;
}

async function readDifferences(
  dataSource: DataSource,
  options: SessionOptions,
): Promise<readonly Difference[]> {
  return dataSource.query<Difference[]>(findDifferences, [JSON.stringify(sessionSettings(options))]);
}

function joinDifferences(differences: readonly Difference[]): string {
  return differences.map(({ difference }) => difference).join(', ');
}

/** Returns the rows as text, for comparisons. */
async function readAsText(source: DataSource | QueryRunner, sql: string): Promise<string> {
  return JSON.stringify(await source.query(sql));
}

async function retryWhileDown(work: () => Promise<void>, onFailure: (error: unknown) => void): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (error instanceof UnsuitableConnection) throw error;
      onFailure(error);
      await delay(retryDelayMs);
    }
  }
}
