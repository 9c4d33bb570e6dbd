import type { Database } from '@fulfilment/database';
import { patientTimeouts } from '@fulfilment/database/testing';

const { connectTimeoutMs, statementTimeoutMs } = patientTimeouts;

/**
 * Lets the statements of a service, and its waits for locks and connections, take longer than in production.
 * Call it before the service uses the connection that it opened to check its settings.
 */
export async function allowDelays(database: Database): Promise<void> {
  const pool = database['pool'];
  Object.assign(pool.options, {
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
  });
  const open = await pool.connect();
  open.release(true); // closes it, since it keeps the earlier timeouts
}
