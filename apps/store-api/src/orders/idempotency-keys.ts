import type { OrderStatus } from '@fulfilment/contracts';
import { BatchLoader, Database, JsonRows, type Sql, statement, type Transaction } from '@fulfilment/database';
import { keyInUse, keyMismatch, type KeyScope } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';

/** The stored response to a request that places or cancels an order, or simulates a warehouse event. */
export interface StoredResponse {
  readonly id: string;
  readonly status: OrderStatus;
}

type Claim =
  /** The key belongs to this request: it places the order. */
  | { readonly state: 'claimed' }
  /** An earlier request died after it had written the order: continue with that order. */
  | { readonly state: 'resumed'; readonly orderId: string }
  | { readonly state: 'replayed'; readonly response: StoredResponse };

/** A key with the order that its request would place. */
interface NewKey {
  readonly creator_id: string;
  readonly client_id: string;
  readonly key: string;
  /** In PostgreSQL's hex format. */
  readonly fingerprint: string;
  /** The id of the order. */
  readonly claimed_by: string;
}

const requested = new JsonRows<NewKey>('requested', {
  creator_id: 'uuid',
  client_id: 'text',
  key: 'text',
  fingerprint: 'bytea',
  claimed_by: 'uuid',
});

interface ExistingKey {
  readonly hasSameBody: boolean;
  /** Null while the earlier request is in progress, or after it died. */
  readonly response: StoredResponse | null;
  /** Whether the current request may claim the key: the earlier request died, or the 24 hours are over. */
  readonly isClaimable: boolean;
}

/**
 * How long a request may take to price and write the order of a claimed key; it usually takes milliseconds.
 * After that another request may claim the key, and the order of the first one is not written.
 */
const claimLeaseMs = 5_000;

/** SQL condition: the 24 hours of the key `existing` are over. */
const expiredSql = "existing.created_at < now() - interval '24 hours'";
/**
 * SQL condition: another request may claim the key `existing`. Any request may if the key is expired, or if
 * its request died before it wrote an order; after that, only a request with the same fingerprint, which
 * continues the order.
 */
const claimableSql = (fingerprint: string): string =>
  `(${expiredSql}
    OR (existing.response IS NULL AND existing.lease_until < now()
        AND (existing.order_id IS NULL OR existing.fingerprint = ${fingerprint})))`;
// Excludes existing keys first: ON CONFLICT alone would make the whole batch wait for a transaction that is
// attaching an order. A subquery looks each key up by the index; NOT EXISTS may read all keys (`JsonRows`).
export const claimNew = statement(
  'idempotency.claim-new',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, lease_until)
   SELECT creator_id, client_id, key, fingerprint, claimed_by, now() + :lease_ms::int * interval '1 millisecond'
   FROM ${requested.table()}
   WHERE (SELECT true FROM idempotency_keys existing
          WHERE (existing.creator_id, existing.client_id, existing.key) = (requested.creator_id, requested.client_id, requested.key)) IS NULL
   ORDER BY creator_id, client_id, key
   ON CONFLICT DO NOTHING
   RETURNING claimed_by`,
);
// Claims a key that is free or claimable. Returns the order that an earlier request with the key has written.
const claimIfAllowed = statement(
  'idempotency.claim',
  `INSERT INTO idempotency_keys AS existing (creator_id, client_id, key, fingerprint, claimed_by, lease_until)
   VALUES ($1, $2, $3, $4, $5, now() + $6::int * interval '1 millisecond')
   ON CONFLICT (creator_id, client_id, key) DO UPDATE SET
     fingerprint = excluded.fingerprint, claimed_by = excluded.claimed_by, lease_until = excluded.lease_until,
     order_id = CASE WHEN ${expiredSql} THEN NULL ELSE existing.order_id END,
     -- The 24 hours start with the request that may place the order.
     created_at = CASE WHEN existing.order_id IS NULL OR ${expiredSql} THEN now()
                       ELSE existing.created_at END,
     response = NULL
   WHERE ${claimableSql('excluded.fingerprint')}
   RETURNING order_id`,
);
// The key gets its response immediately, and a random `claimed_by`, so no request can attach an order to it.
const storeWithResponse = statement(
  'idempotency.store',
  `INSERT INTO idempotency_keys AS existing (creator_id, client_id, key, fingerprint, claimed_by, lease_until, response)
   VALUES ($1, $2, $3, $4, gen_random_uuid(), now(), $5)
   ON CONFLICT (creator_id, client_id, key) DO UPDATE SET
     fingerprint = excluded.fingerprint, claimed_by = excluded.claimed_by, lease_until = excluded.lease_until,
     order_id = NULL, created_at = now(), response = excluded.response
   WHERE ${claimableSql('excluded.fingerprint')}`,
);
const readExisting = statement(
  'idempotency.read',
  `SELECT fingerprint = $4 AS "hasSameBody", response, ${claimableSql('$4')} AS "isClaimable"
   FROM idempotency_keys AS existing WHERE creator_id = $1 AND client_id = $2 AND key = $3`,
);
const deleteClaim = statement(
  'idempotency.delete-claim',
  `DELETE FROM idempotency_keys
   WHERE creator_id = $1 AND client_id = $2 AND key = $3 AND claimed_by = $4 AND order_id IS NULL`,
);
const saveResponse = statement(
  'idempotency.save-response',
  `UPDATE idempotency_keys SET response = $2 WHERE order_id = $1 AND (response IS NULL OR response->>'status' = 'pending')`,
);
// The row lock keeps it from deleting a key that a concurrent request renews.
const deleteExpired = statement(
  'idempotency.delete-expired',
  `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM idempotency_keys AS existing WHERE ${expiredSql}
       AND (response IS NOT NULL OR (order_id IS NULL AND lease_until < now()))
     LIMIT 1000 FOR UPDATE SKIP LOCKED))`,
);

/**
 * Idempotency keys: a repeated request has its effect once. Only responses with an order are stored, for 24
 * hours.
 */
@Injectable()
export class IdempotencyKeys {
  /** Claims keys that are not stored yet; returns true for each claimed one. */
  private readonly newKeys: BatchLoader<NewKey, true>;

  constructor(private readonly database: Database) {
    this.newKeys = new BatchLoader({ run: (keys) => this.claimNew(keys), maxConcurrent: 2 });
  }

  /** @throws Conflict when the key was used with another body, or its request is still in progress */
  async claim({ creatorId, clientId, key }: KeyScope, fingerprint: Buffer, orderId: string): Promise<Claim> {
    const newKey = {
      creator_id: creatorId,
      client_id: clientId,
      key,
      fingerprint: String.raw`\x${fingerprint.toString('hex')}`,
      claimed_by: orderId,
    };
    if (await this.newKeys.load(newKey)) return { state: 'claimed' };
    const lookup = [creatorId, clientId, key, fingerprint];
    // A plain read waits for no lock. Only an abandoned, expired or released key is claimed below.
    const existing = await this.database.row<ExistingKey>(readExisting, lookup);
    if (existing?.isClaimable === false) return { state: 'replayed', response: requireResponse(existing) };
    const claimed = await this.database.row<{ order_id: string | null }>(claimIfAllowed, [
      ...lookup,
      orderId,
      claimLeaseMs,
    ]);
    if (claimed === undefined) {
      const claimedByOther = await this.database.row<ExistingKey>(readExisting, lookup);
      return { state: 'replayed', response: requireResponse(claimedByOther) };
    }
    return claimed.order_id === null ? { state: 'claimed' } : { state: 'resumed', orderId: claimed.order_id };
  }

  private async claimNew(keys: readonly NewKey[]): Promise<{ index: number; row: true }[]> {
    const values = { ...requested.values(keys), lease_ms: claimLeaseMs };
    const rows = await this.database.rows<{ claimed_by: string }>(claimNew, values);
    const claimed = new Set(rows.map((row) => row.claimed_by));
    return keys.flatMap(({ claimed_by }, index) => (claimed.has(claimed_by) ? [{ index, row: true }] : []));
  }

  /**
   * Deletes the claim of a request that ended without an order. Waits for a transaction that is attaching an
   * order to the key; has no effect once the key has an order.
   */
  async release(scope: KeyScope, orderId: string): Promise<void> {
    await this.database.run(deleteClaim, [scope.creatorId, scope.clientId, scope.key, orderId]);
  }

  /**
   * For cancellations and test events: stores the key of a request with its response, in the transaction of
   * the change. Returns whether the request is new: true also without a key, false if an earlier request with
   * the same body has used the key. A concurrent request with the key waits for the transaction.
   * @throws Conflict when the key was used with another body, or its request is still in progress
   */
  async store(
    tx: Transaction,
    { creatorId, clientId, key }: Omit<KeyScope, 'key'> & { readonly key: string | undefined },
    fingerprint: Buffer,
    response: StoredResponse,
  ): Promise<boolean> {
    if (key === undefined) return true;
    const lookup = [creatorId, clientId, key, fingerprint];
    const isStored = (await tx.run(storeWithResponse, [...lookup, response])) > 0;
    if (isStored) return true;
    requireResponse(await tx.row<ExistingKey>(readExisting, lookup));
    return false;
  }

  /**
   * Stores the response for repeated requests. Its first status after `pending` stays the same, whatever
   * happens to the order later.
   */
  async saveResponse(sql: Sql, orderId: string, response: StoredResponse): Promise<void> {
    await sql.run(saveResponse, [orderId, response]);
  }
}

/**
 * Deletes a batch of keys older than 24 hours, except those of requests in progress and of orders without a
 * stored response. Returns their number.
 */
export function deleteExpiredKeys(database: Database): Promise<number> {
  return database.run(deleteExpired);
}

/**
 * Returns the stored response to an earlier request with the same key and body.
 * @throws Conflict when the key was used with another body, or its request is still in progress
 */
function requireResponse(existing: ExistingKey | undefined): StoredResponse {
  if (existing?.hasSameBody === false) throw keyMismatch();
  if (existing?.response == null) throw keyInUse();
  return existing.response;
}
