import { type Sql, statement, type Transaction } from '@fulfilment/database';
import { lockSeeds } from '../../advisory-locks.js';

/** Revoked access of a client to one creator, or to all. */
export interface AccessRevocation {
  readonly clientId: string;
  /** Null: all creators. */
  readonly creatorId: string | null;
  /** Time on auth-server's clock. */
  readonly revokedAt: string;
}

/**
 * SQL: whether the token that created a subscription was issued before its access was revoked. Both times are
 * from auth-server's clock, so it does not matter when the message arrives. But `iat` has whole seconds, so a
 * token of the second of the revocation may belong to access that was granted afterwards. Such a token counts
 * as issued before the revocation if it was used before. The time of use is from PostgreSQL's clock, so a
 * difference between the clocks matters only for such tokens.
 * @param issuedAt SQL of the token's `iat`
 * @param createdAt SQL of the time when the token was used to create the subscription
 * @param revokedAt SQL of the time of the revocation
 */
export function issuedBeforeRevocationSql(issuedAt: string, createdAt: string, revokedAt: string): string {
  return `CASE WHEN ${issuedAt} = date_trunc('second', ${revokedAt}) -- the same second
    THEN ${createdAt} <= ${revokedAt} ELSE ${issuedAt} < ${revokedAt} END`;
}

// Serialises creations of subscriptions with revocations of the same client, so that the later one sees the
// earlier one.
const lockExclusive = statement(
  'access-revocations.lock-exclusive',
  `SELECT pg_advisory_xact_lock(hashtextextended($1, ${lockSeeds.accessRevocations}))`,
);
const lockShared = statement(
  'access-revocations.lock-shared',
  `SELECT pg_advisory_xact_lock_shared(hashtextextended($1, ${lockSeeds.accessRevocations}))`,
);
const record = statement(
  'access-revocations.record',
  `INSERT INTO webhook_access_revocations AS known (client_id, creator_id, revoked_at, unfinished)
   VALUES ($1, $2, $3, true)
   ON CONFLICT (client_id, creator_id) DO UPDATE
     SET revoked_at = greatest(known.revoked_at, EXCLUDED.revoked_at), unfinished = true`,
);
const lockUnfinished = statement(
  'access-revocations.lock-unfinished',
  `SELECT client_id AS "clientId", creator_id AS "creatorId", revoked_at::text AS "revokedAt" FROM webhook_access_revocations
   WHERE unfinished ORDER BY revoked_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
);
const finish = statement(
  'access-revocations.finish',
  `UPDATE webhook_access_revocations SET unfinished = false
   WHERE client_id = $1 AND creator_id IS NOT DISTINCT FROM $2 AND revoked_at <= $3`,
);
const find = statement(
  'access-revocations.find',
  `SELECT 1 FROM webhook_access_revocations
   WHERE client_id = $1 AND (creator_id = $2 OR creator_id IS NULL)
     AND ${issuedBeforeRevocationSql('$3::timestamptz', 'now()', 'revoked_at')} LIMIT 1`,
);
// Access tokens expire earlier: an hour after they were issued. The row lock keeps it from deleting a
// revocation that is recorded again concurrently.
const deleteExpired = statement(
  'access-revocations.delete-expired',
  `DELETE FROM webhook_access_revocations WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM webhook_access_revocations WHERE revoked_at < now() - interval '1 day' AND NOT unfinished LIMIT 1000 FOR UPDATE SKIP LOCKED))`,
);

/**
 * SQL: whether the access under which a subscription was created is not revoked. False as soon as the
 * revocation is recorded, although the subscription is deleted later.
 * @param subscription alias of `webhook_subscriptions`
 */
export function accessNotRevokedSql(subscription: string): string {
  const noRevocation = (whereCreator: string): string => `NOT EXISTS (SELECT FROM webhook_access_revocations a
    WHERE a.client_id = ${subscription}.client_id AND a.creator_id ${whereCreator}
    AND ${issuedBeforeRevocationSql(`${subscription}.authorized_at`, `${subscription}.created_at`, 'a.revoked_at')})`;
  // Two searches of the index by both columns. One would read the client's revocations of all creators.
  return `${noRevocation(`= ${subscription}.creator_id`)} AND ${noRevocation('IS NULL')}`;
}

/**
 * Records a revocation for longer than the lifetime of the tokens that were issued before it. From now on
 * these tokens create no subscription, except within one second (`issuedBeforeRevocationSql`), and nothing is
 * sent to the subscriptions that they created.
 */
export async function recordRevocation(
  tx: Transaction,
  { clientId, creatorId, revokedAt }: AccessRevocation,
): Promise<void> {
  await tx.run(lockExclusive, [clientId]);
  await tx.run(record, [clientId, creatorId, revokedAt]);
}

/**
 * Returns whether the access of a token is revoked. The APIs reject such a token within a second; this check
 * also covers that second and outages of Redis, except for tokens that were issued in the second of the
 * revocation. Revocations of the client wait until the transaction ends.
 */
export async function lockAndCheckRevoked(
  tx: Transaction,
  clientId: string,
  creatorId: string,
  issuedAt: Date,
): Promise<boolean> {
  await tx.run(lockShared, [clientId]);
  return (await tx.row(find, [clientId, creatorId, issuedAt])) !== undefined;
}

/**
 * Locks and returns a revocation whose subscriptions may not all be deleted yet; undefined if there is none.
 * Skips revocations that other replicas have locked.
 */
export function lockUnfinishedRevocation(tx: Transaction): Promise<AccessRevocation | undefined> {
  return tx.row<AccessRevocation>(lockUnfinished);
}

/** Marks that all subscriptions of the revoked access are deleted. */
export async function finishRevocation(
  tx: Transaction,
  { clientId, creatorId, revokedAt }: AccessRevocation,
): Promise<void> {
  await tx.run(finish, [clientId, creatorId, revokedAt]);
}

/** Deletes up to 1000 revocations that no valid token needs. Returns their number. */
export function deleteExpiredRevocations(sql: Sql): Promise<number> {
  return sql.run(deleteExpired);
}
