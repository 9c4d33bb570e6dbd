import { BatchLoader, type CommitProbe, isErrorResponse, type Sql, statement } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { setTimeout as delay } from 'node:timers/promises';

/** A new row of `oidc_model`. */
export interface NewRow {
  readonly model: string;
  /** Id of the row; the hash if the id is a secret. */
  readonly id: string;
  readonly payload: object;
  readonly grant_id: string | null;
  readonly account_id: string | null;
  readonly client_id: string | null;
  readonly session_uid: string | null;
  readonly expires_at: Date | null;
}

/** The token writes of one request: a code or refresh token to consume, and the new tokens of its family. */
export interface TokenWrite {
  /** Id of the family's Grant. */
  readonly grant_id: string;
  /** Model and id of the code or refresh token to consume. */
  readonly model: string;
  readonly id: string;
  /** The new tokens. */
  readonly members: readonly NewRow[];
  /** `roleVersion` of the Grant when the role in the new tokens was read; null if it had none. */
  readonly role_version: string | null;
}

/** The new tokens were stored if `consumed` is true. It is false if another member is. */
export interface TokenWriteResult {
  readonly family_exists: boolean;
  /** Whether the role of the person has not changed since the request read it. */
  readonly role_current: boolean;
  /** Whether this write consumed a token. */
  readonly consumed: boolean;
}

/**
 * Writes the tokens of an exchange, or of one or several refreshes, atomically for each request. LATERAL and
 * LIMIT force index lookups even if the table's statistics are out of date.
 */
const writeTokens = statement(
  'oidc.write-tokens',
  `WITH
   requested AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb)
       AS input (index integer, grant_id text, model text, id text, members jsonb, role_version text)),
   -- The families that still exist. The lock on the Grant keeps them from ending concurrently. It is the first
   -- lock, as in the end of a family, so the two never deadlock. The role version is that of the locked row.
   family AS MATERIALIZED (
     SELECT locked.id, locked.role_version FROM (SELECT DISTINCT grant_id FROM requested ORDER BY grant_id) AS grant_ids
     CROSS JOIN LATERAL (
       SELECT id, payload ->> 'roleVersion' AS role_version FROM oidc_model
       WHERE model = 'Grant' AND id = grant_ids.grant_id LIMIT 1 FOR KEY SHARE) AS locked),
   -- The requests that may store their tokens.
   permitted AS MATERIALIZED (
     SELECT requested.* FROM requested JOIN family ON family.id = requested.grant_id
     WHERE family.role_version IS NOT DISTINCT FROM requested.role_version),
   -- For each token, the first request that consumes it.
   unconsumed AS MATERIALIZED (
     SELECT DISTINCT ON (permitted.model, permitted.id) permitted.index, permitted.model, permitted.id, token.row_id
     FROM permitted CROSS JOIN LATERAL (
       SELECT ctid AS row_id FROM oidc_model
       WHERE model = permitted.model AND id = permitted.id AND consumed_at IS NULL LIMIT 1) AS token
     ORDER BY permitted.model, permitted.id, permitted.index),
   -- Waits for the row lock of a token that another transaction is consuming, and then finds it consumed.
   consumed AS (
     UPDATE oidc_model SET consumed_at = $2
     WHERE ctid = ANY (ARRAY(SELECT row_id FROM unconsumed)) AND consumed_at IS NULL
     RETURNING model, id),
   -- The requests whose token no other transaction consumed concurrently.
   winners AS MATERIALIZED (SELECT unconsumed.index FROM unconsumed JOIN consumed USING (model, id)),
   added AS (
     INSERT INTO oidc_model (model, id, payload, grant_id, account_id, client_id, session_uid, expires_at)
     SELECT member.model, member.id, member.payload, permitted.grant_id, member.account_id, member.client_id,
            member.session_uid, member.expires_at
     FROM permitted JOIN winners USING (index)
     CROSS JOIN LATERAL jsonb_to_recordset(permitted.members) AS member (model text, id text, payload jsonb,
       account_id text, client_id text, session_uid text, expires_at timestamptz))
   SELECT requested.index, family.id IS NOT NULL AS family_exists,
          family.role_version IS NOT DISTINCT FROM requested.role_version AS role_current, winners.index IS NOT NULL AS consumed
   FROM requested LEFT JOIN family ON family.id = requested.grant_id LEFT JOIN winners ON winners.index = requested.index`,
);

const findStored = statement('oidc.find-stored', 'SELECT 1 FROM oidc_model WHERE model = $1 AND id = $2');

/** How long a write whose response was lost is retried: a crashed PostgreSQL has restarted by then. */
const resolveTimeoutMs = 8_000;
const retryDelayMs = 50;

/** Stores the token writes of concurrent refreshes in shared statements, each of which is one commit. */
export class TokenWriter {
  private readonly loader: BatchLoader<TokenWrite, TokenWriteResult>;

  constructor(private readonly database: Sql) {
    // Four concurrent statements: one that waits for a row delays only the writes that share it (ADR 12).
    this.loader = new BatchLoader({ run: (writes) => writeAll(database, writes), maxConcurrent: 4 });
  }

  async write(write: TokenWrite): Promise<TokenWriteResult | undefined> {
    try {
      return await this.writeInBatch(write);
    } catch (error) {
      const mayBeStored = error instanceof DependencyUnavailable && !isErrorResponse(error);
      if (mayBeStored) return this.resolveLostWrite(write, error);
      throw error;
    }
  }

  /**
   * If PostgreSQL rejects the batch, nothing of it is stored. The write is then repeated alone, so that no
   * request fails because of another.
   */
  private async writeInBatch(write: TokenWrite): Promise<TokenWriteResult | undefined> {
    try {
      return await this.loader.load(write);
    } catch (error) {
      if (isErrorResponse(error)) return writeOne(this.database, write);
      throw error;
    }
  }

  /**
   * Resolves a write whose connection was lost: it may be stored already, be stored later, or not at all.
   * Without this the client could lose its used token and the successor. Repeating the write resolves it,
   * since a token is consumed only once: if it is consumed and the successor is stored, the first attempt
   * succeeded.
   */
  private async resolveLostWrite(
    write: TokenWrite,
    connectionError: unknown,
  ): Promise<TokenWriteResult | undefined> {
    const endsAtMs = performance.now() + resolveTimeoutMs;
    for (;;) {
      try {
        const written = await writeOne(this.database, write);
        return (await this.isStored(write))
          ? { family_exists: true, role_current: true, consumed: true }
          : written;
      } catch (error) {
        if (!(error instanceof DependencyUnavailable) || performance.now() > endsAtMs) throw connectionError;
        await delay(retryDelayMs);
      }
    }
  }

  private async isStored({ members }: TokenWrite): Promise<boolean> {
    const probe = commitProbeOf(members);
    return probe !== undefined && (await this.database.row(probe.statement, probe.values)) !== undefined;
  }
}

/** Stores the token writes of one request, in the transaction of `sql` if it has one. */
export async function writeOne(sql: Sql, write: TokenWrite): Promise<TokenWriteResult | undefined> {
  return (await writeAll(sql, [write]))[0]?.row;
}

/** The lookup of the first new token: it exists exactly when all were stored. */
export function commitProbeOf([first]: readonly NewRow[]): CommitProbe | undefined {
  if (first === undefined) return undefined;
  return { statement: findStored, values: [first.model, first.id] };
}

async function writeAll(
  sql: Sql,
  writes: readonly TokenWrite[],
): Promise<{ index: number; row: TokenWriteResult }[]> {
  const input = JSON.stringify(writes.map((write, index) => ({ ...write, index })));
  const rows = await sql.rows<TokenWriteResult & { index: number }>(writeTokens, [input, new Date()]);
  return rows.map((row) => ({ index: row.index, row }));
}
