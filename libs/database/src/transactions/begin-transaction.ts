import type { PoolClient } from 'pg';

export interface BeginOptions {
  /** Whether to return the transaction's id, by which its outcome can be queried later. */
  readonly returnId?: boolean;
  /** REPEATABLE READ, READ ONLY. */
  readonly snapshot?: boolean | undefined;
  /** Ends each of its statements after this time. */
  readonly statementTimeoutMs?: number | undefined;
}

/** Sends BEGIN and its options as one message, in one round trip. Returns the id if `returnId`. */
export async function beginTransaction(
  client: PoolClient,
  { returnId = false, snapshot = false, statementTimeoutMs }: BeginOptions,
): Promise<string | undefined> {
  const message = [
    snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN',
    ...(statementTimeoutMs === undefined ? [] : [`SET LOCAL statement_timeout = ${statementTimeoutMs}`]),
    ...(returnId ? ['SELECT pg_current_xact_id()::text AS id'] : []),
  ].join('; ');
  const results: unknown = await client.query(message);
  return returnId ? transactionId(results) : undefined;
}

/** @param results for a message of several statements pg returns an array, which its types do not say */
function transactionId(results: unknown): string {
  const last: unknown = Array.isArray(results) ? results.at(-1) : undefined;
  if (typeof last === 'object' && last !== null && 'rows' in last && Array.isArray(last.rows)) {
    const row: unknown = last.rows[0];
    if (typeof row === 'object' && row !== null && 'id' in row) return String(row.id);
  }
  throw new Error('pg no longer returns an array for a query of several statements.');
}
