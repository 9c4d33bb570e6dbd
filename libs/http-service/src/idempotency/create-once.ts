import { type Sql, statement, type Transaction } from '@fulfilment/database';
import { bodyMismatch, replayHeaders, stillRunning } from './key-conflicts.js';
import type { KeyScope } from './key-scope.js';

/** A request with an `idempotency-key` that creates one resource in one transaction. */
export interface KeyedRequest {
  readonly scope: KeyScope;
  /** Of its body. The first is stored; the others are of keys before, and count as the same body too. */
  readonly fingerprints: readonly Buffer[];
  readonly at: Date;
}

/** A response with the headers that say whether an earlier request was given it. */
export interface CreatedOnce<Response> {
  readonly response: Response;
  readonly headers: Readonly<Record<string, string>>;
}

interface HeldKey<Response> {
  readonly fingerprint: Buffer;
  readonly response: Response | null;
}

const keysPerBatch = 1_000;
const lifetime = "interval '24 hours'";

/** SQL of the table, for a migration. `response` is `json` so that members keep their order; it is null only inside the transaction that creates. */
export const createIdempotencyKeys = `
  CREATE TABLE IF NOT EXISTS idempotency_keys (
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    response json,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (creator_id, client_id, key)
  );
  CREATE INDEX IF NOT EXISTS idempotency_keys_by_age ON idempotency_keys (created_at);
`;

const read = statement(
  'idempotency.read',
  `SELECT fingerprint, response FROM idempotency_keys
   WHERE creator_id = $1 AND client_id = $2 AND key = $3 AND created_at > $4::timestamptz - ${lifetime}`,
);
// Waits for a transaction that holds the key. An expired key is taken as if it were not there.
const claim = statement(
  'idempotency.claim',
  `INSERT INTO idempotency_keys AS held (creator_id, client_id, key, created_at, fingerprint) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (creator_id, client_id, key) DO UPDATE
     SET created_at = excluded.created_at, fingerprint = excluded.fingerprint, response = NULL
     WHERE held.created_at <= excluded.created_at - ${lifetime}`,
);
const remember = statement(
  'idempotency.remember',
  'UPDATE idempotency_keys SET response = $4 WHERE creator_id = $1 AND client_id = $2 AND key = $3',
);
const forget = statement(
  'idempotency.forget-old',
  `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM idempotency_keys WHERE created_at <= $1::timestamptz - ${lifetime} LIMIT ${keysPerBatch}))`,
);

/**
 * The response to an earlier request with this key and body; undefined when there was none.
 * @throws Conflict when the body of that request was another
 */
export async function findCreated<Response>(
  sql: Sql,
  { scope, fingerprints, at }: KeyedRequest,
): Promise<CreatedOnce<Response> | undefined> {
  const held = await sql.row<HeldKey<Response>>(read, [...placeOf(scope), at]);
  if (held === undefined) return undefined;
  if (!fingerprints.some((known) => known.equals(held.fingerprint))) throw bodyMismatch();
  return held.response === null ? undefined : { response: held.response, headers: replayHeaders };
}

/**
 * Creates a resource and remembers the response in the same transaction; with the key of an earlier request, it creates nothing and returns that
 * response. Two requests with one key take turns, and the second sees what became of the first. Without a key it always creates.
 * @throws Conflict when the body of the earlier request was another
 */
export async function createOnce<Response>(
  tx: Transaction,
  request: KeyedRequest | undefined,
  create: () => Promise<Response>,
): Promise<CreatedOnce<Response>> {
  if (request === undefined) return { response: await create(), headers: {} };
  const { scope, fingerprints, at } = request;
  if ((await tx.run(claim, [...placeOf(scope), at, fingerprints[0]])) === 0) {
    const created = await findCreated<Response>(tx, request);
    if (created === undefined) throw stillRunning(); // its day ended between the two statements
    return created;
  }
  const response = await create();
  await tx.run(remember, [...placeOf(scope), JSON.stringify(response)]);
  return { response, headers: {} };
}

/** Deletes a batch of keys of more than 24 hours ago. Returns whether there may be more. */
export async function forgetCreated(sql: Sql, at: Date): Promise<boolean> {
  return (await sql.run(forget, [at])) === keysPerBatch;
}

function placeOf({ creatorId, clientId, key }: KeyScope): readonly string[] {
  return [creatorId, clientId, key];
}
