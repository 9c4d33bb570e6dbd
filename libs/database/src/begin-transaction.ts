import type { PoolClient } from 'pg';

export interface BeginOptions {
  /** Returns the transaction's id, by which its outcome can be asked for later. */
  readonly askAfter?: boolean;
  /** REPEATABLE READ, READ ONLY. */
  readonly snapshot?: boolean | undefined;
  /** Ends each of its statements after this time. */
  readonly statementTimeoutMs?: number | undefined;
}

/** Sends BEGIN and its options as one message, so that none of them costs a round trip. Returns the transaction's id if `askAfter` wants it. */
export async function beginTransaction(
  client: PoolClient,
  { askAfter = false, snapshot = false, statementTimeoutMs }: BeginOptions,
): Promise<string | undefined> {
  const message = [
    snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN',
    ...(statementTimeoutMs === undefined ? [] : [`SET LOCAL statement_timeout = ${statementTimeoutMs}`]),
    ...(askAfter ? ['SELECT pg_current_xact_id()::text AS id'] : []),
  ].join('; ');
  const answers: unknown = await client.query(message);
  return askAfter ? idIn(answers) : undefined;
}

/** @param answers of a message of several statements: pg makes it an array, whatever its types say */
function idIn(answers: unknown): string {
  const last: unknown = Array.isArray(answers) ? answers.at(-1) : undefined;
  if (typeof last === 'object' && last !== null && 'rows' in last && Array.isArray(last.rows)) {
    const row: unknown = last.rows[0];
    if (typeof row === 'object' && row !== null && 'id' in row) return String(row.id);
  }
  throw new Error('pg no longer answers a message of several statements with an array.');
}
