import { type Sql, statement, type Transaction } from '@fulfilment/database';
import { keyMismatch, replayHeaders, keyInUse } from './key-conflicts.js';

/** An `idempotency-key` in its scope: another creator or client may use the same text. */
export interface KeyScope {
  readonly creatorId: string;
  readonly clientId: string;
  readonly key: string;
}

/** A request with an `idempotency-key` that creates a resource in one transaction. */
export interface KeyedRequest {
  readonly scope: KeyScope;
  /** Fingerprints of the body. The first is stored; those under previous keys count as the same body. */
  readonly fingerprints: readonly Buffer[];
  /** When the request was received. A key that was stored at least 24 hours earlier counts as absent. */
  readonly receivedAt: Date;
}

/** A response, and the headers that mark it if it is a replay. */
export interface CreatedOnce<Response> {
  readonly response: Response;
  readonly headers: Readonly<Record<string, string>>;
}

interface StoredKey<Response> {
  readonly fingerprint: Buffer;
  readonly response: Response | null;
}

const keysPerBatch = 1_000;
const lifetimeSql = "interval '24 hours'";

const readKey = statement(
  'idempotency.read',
  `SELECT fingerprint, response FROM idempotency_keys
   WHERE creator_id = $1 AND client_id = $2 AND key = $3 AND created_at > $4::timestamptz - ${lifetimeSql}`,
);
// Waits for a concurrent transaction with the key. An expired key counts as absent.
const claimKey = statement(
  'idempotency.claim',
  `INSERT INTO idempotency_keys AS existing (creator_id, client_id, key, created_at, fingerprint) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (creator_id, client_id, key) DO UPDATE
     SET created_at = excluded.created_at, fingerprint = excluded.fingerprint, response = NULL
     WHERE existing.created_at <= excluded.created_at - ${lifetimeSql}`,
);
const storeResponse = statement(
  'idempotency.store-response',
  'UPDATE idempotency_keys SET response = $4 WHERE creator_id = $1 AND client_id = $2 AND key = $3',
);
// The row lock keeps it from deleting a key that a concurrent request renews.
const deleteExpired = statement(
  'idempotency.delete-expired',
  `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM idempotency_keys WHERE created_at <= $1::timestamptz - ${lifetimeSql} LIMIT ${keysPerBatch} FOR UPDATE SKIP LOCKED))`,
);

/**
 * Returns the committed response to an earlier request with this key and body; undefined if there is none.
 * @throws Conflict when the earlier request had another body
 */
export async function findCreated<Response>(
  sql: Sql,
  { scope, fingerprints, receivedAt }: KeyedRequest,
): Promise<CreatedOnce<Response> | undefined> {
  const stored = await sql.row<StoredKey<Response>>(readKey, [...valuesOf(scope), receivedAt]);
  if (stored === undefined) return undefined;
  if (!fingerprints.some((known) => known.equals(stored.fingerprint))) throw keyMismatch();
  return stored.response === null ? undefined : { response: stored.response, headers: replayHeaders };
}

/**
 * Creates a resource and stores the response in the same transaction. With the key of an earlier request it
 * creates nothing and returns the stored response. Concurrent requests with one key are serialised: the
 * second sees the result of the first. Without a key it always creates.
 * @throws Conflict when the earlier request had another body
 */
export async function createOnce<Response>(
  tx: Transaction,
  request: KeyedRequest | undefined,
  create: () => Promise<Response>,
): Promise<CreatedOnce<Response>> {
  if (request === undefined) return { response: await create(), headers: {} };
  const { scope, fingerprints, receivedAt } = request;
  if ((await tx.run(claimKey, [...valuesOf(scope), receivedAt, fingerprints[0]])) === 0) {
    const created = await findCreated<Response>(tx, request);
    if (created === undefined) throw keyInUse(); // the clean-up deleted the key between the two statements
    return created;
  }
  const response = await create();
  await tx.run(storeResponse, [...valuesOf(scope), JSON.stringify(response)]);
  return { response, headers: {} };
}

/** Deletes a batch of keys older than 24 hours. Returns their number. */
export function deleteExpiredIdempotencyKeys(sql: Sql, now: Date): Promise<number> {
  return sql.run(deleteExpired, [now]);
}

function valuesOf({ creatorId, clientId, key }: KeyScope): readonly string[] {
  return [creatorId, clientId, key];
}
