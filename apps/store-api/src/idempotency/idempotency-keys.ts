import type { OrderStatus } from '@fulfilment/contracts';
import { Database, GatheredStatements, type Sql, statement, type Transaction } from '@fulfilment/database';
import { bodyMismatch, type KeyScope, stillRunning } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';

/** The body of the answer a key remembers. */
export interface RememberedResponse {
  readonly id: string;
  readonly status: OrderStatus;
}

export type Claim =
  /** Ours: place the order under `claimedBy`. */
  | { readonly state: 'claimed' }
  /** An earlier request died after the order row was there: go on with that order. */
  | { readonly state: 'resumed'; readonly orderId: string }
  | { readonly state: 'remembered'; readonly response: RememberedResponse };

/** A key with the order that its request would place. */
interface NewKey {
  readonly scope: KeyScope;
  readonly fingerprint: Buffer;
  readonly claimedBy: string;
}

interface HeldKey {
  readonly same: boolean;
  readonly response: RememberedResponse | null;
  /** Whoever held it is gone, or its day is over. */
  readonly free: boolean;
}

/** How long a claim lasts until its order is there. One that comes later than that is rolled back when it attaches. */
const claimLeaseMs = 5_000;

// Of a key that is there, ON CONFLICT alone would wait for the transaction that attaches its order, and the neighbours with it.
const claimNew = statement(
  'idempotency.claim-new',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, lease_until)
   SELECT creator_id, client_id, key, fingerprint, claimed_by, now() + $6::int * interval '1 millisecond'
   FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::uuid[]) AS asked (creator_id, client_id, key, fingerprint, claimed_by)
   WHERE NOT EXISTS (SELECT FROM idempotency_keys held
                     WHERE (held.creator_id, held.client_id, held.key) = (asked.creator_id, asked.client_id, asked.key))
   ORDER BY creator_id, client_id, key
   ON CONFLICT DO NOTHING
   RETURNING claimed_by`,
);
const claim = statement(
  'idempotency.claim',
  `INSERT INTO idempotency_keys AS held (creator_id, client_id, key, fingerprint, claimed_by, lease_until)
   VALUES ($1, $2, $3, $4, $5, now() + $6::int * interval '1 millisecond')
   ON CONFLICT (creator_id, client_id, key) DO UPDATE SET
     fingerprint = excluded.fingerprint, claimed_by = excluded.claimed_by, lease_until = excluded.lease_until,
     order_id = CASE WHEN held.created_at < now() - interval '24 hours' THEN NULL ELSE held.order_id END,
     -- The day begins with the request whose order it may become.
     created_at = CASE WHEN held.order_id IS NULL OR held.created_at < now() - interval '24 hours' THEN now()
                       ELSE held.created_at END,
     response = NULL
   WHERE held.created_at < now() - interval '24 hours'
      OR (held.response IS NULL AND held.lease_until < now()
          AND (held.order_id IS NULL OR held.fingerprint = excluded.fingerprint))
   RETURNING order_id`,
);
const readHeld = statement(
  'idempotency.read',
  `SELECT fingerprint = $4 AS same, response,
          created_at < now() - interval '24 hours'
            OR (response IS NULL AND lease_until < now() AND (order_id IS NULL OR fingerprint = $4)) AS free
   FROM idempotency_keys WHERE creator_id = $1 AND client_id = $2 AND key = $3`,
);
const attachOrder = statement(
  'idempotency.attach',
  `UPDATE idempotency_keys SET order_id = $5, lease_until = now() + $6::int * interval '1 millisecond'
   WHERE creator_id = $1 AND client_id = $2 AND key = $3 AND claimed_by = $4 AND order_id IS NULL`,
);
const release = statement(
  'idempotency.release',
  `DELETE FROM idempotency_keys
   WHERE creator_id = $1 AND client_id = $2 AND key = $3 AND claimed_by = $4 AND order_id IS NULL`,
);
const remember = statement(
  'idempotency.remember',
  `UPDATE idempotency_keys SET response = $2 WHERE order_id = $1 AND (response IS NULL OR response->>'status' = 'pending')`,
);
const rememberUnlessKnown = statement(
  'idempotency.remember-unless-known',
  'UPDATE idempotency_keys SET response = $2 WHERE order_id = $1 AND response IS NULL',
);
const forgetOld = statement(
  'idempotency.forget-old',
  `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM idempotency_keys WHERE created_at < now() - interval '24 hours'
       AND (response IS NOT NULL OR (order_id IS NULL AND lease_until < now()))
     LIMIT 1000))`,
);

/** Keys by which a caller may repeat a request without its effect happening twice. Only outcomes with an order are remembered, for 24 hours. */
@Injectable()
export class IdempotencyKeys {
  private readonly newKeys: GatheredStatements<NewKey, true>;

  constructor(private readonly database: Database) {
    this.newKeys = new GatheredStatements({ run: (keys) => this.claimNew(keys), atOnce: 2 });
  }

  /** @throws Conflict when the key stands for another body, or its request still runs */
  async claim(scope: KeyScope, fingerprint: Buffer, claimedBy: string): Promise<Claim> {
    if (await this.newKeys.row({ scope, fingerprint, claimedBy })) return { state: 'claimed' };
    const place = [scope.creatorId, scope.clientId, scope.key, fingerprint];
    // Reading waits for nobody: only a key whose holder is gone is taken from it.
    const held = await this.database.row<HeldKey>(readHeld, place);
    if (held?.free === false) return standing(held);
    const claimed = await this.database.row<{ order_id: string | null }>(claim, [
      ...place,
      claimedBy,
      claimLeaseMs,
    ]);
    if (claimed === undefined) return standing(await this.database.row<HeldKey>(readHeld, place));
    return claimed.order_id === null ? { state: 'claimed' } : { state: 'resumed', orderId: claimed.order_id };
  }

  private async claimNew(keys: readonly NewKey[]): Promise<{ index: number; row: true }[]> {
    const rows = await this.database.rows<{ claimed_by: string }>(claimNew, [
      keys.map(({ scope }) => scope.creatorId),
      keys.map(({ scope }) => scope.clientId),
      keys.map(({ scope }) => scope.key),
      keys.map(({ fingerprint }) => fingerprint),
      keys.map(({ claimedBy }) => claimedBy),
      claimLeaseMs,
    ]);
    const claimed = new Set(rows.map((row) => row.claimed_by));
    return keys.flatMap(({ claimedBy }, index) => (claimed.has(claimedBy) ? [{ index, row: true }] : []));
  }

  /**
   * Binds the claimed key to its order, in the order's own transaction.
   * @param leaseMs how long the request may take from here: until then a repetition is told to wait
   * @throws Conflict when the claim was lost meanwhile
   */
  async attach(tx: Transaction, scope: KeyScope, orderId: string, leaseMs: number): Promise<void> {
    const attached = await tx.run(attachOrder, [
      scope.creatorId,
      scope.clientId,
      scope.key,
      orderId,
      orderId,
      leaseMs,
    ]);
    if (attached === 0) throw stillRunning();
  }

  /** Frees a key whose request ended without an order. */
  async release(scope: KeyScope, claimedBy: string): Promise<void> {
    await this.database.run(release, [scope.creatorId, scope.clientId, scope.key, claimedBy]);
  }

  /** What a repetition will be told: the first final answer, whatever becomes of the order afterwards. */
  async remember(sql: Sql, orderId: string, response: RememberedResponse): Promise<void> {
    await sql.run(remember, [orderId, response]);
  }

  /** What a repetition will be told until the order settles. */
  async rememberUnlessKnown(orderId: string, response: RememberedResponse): Promise<void> {
    await this.database.run(rememberUnlessKnown, [orderId, response]);
  }

  /** Deletes a batch of keys past their day. Answers whether there may be more. */
  async forgetOld(sql: Sql): Promise<boolean> {
    return (await sql.run(forgetOld)) === 1000;
  }
}

/** What a key that somebody holds tells a repetition. @throws Conflict */
function standing(held: HeldKey | undefined): Claim {
  if (held?.same === false) throw bodyMismatch();
  if (held?.response == null) throw stillRunning();
  return { state: 'remembered', response: held.response };
}
