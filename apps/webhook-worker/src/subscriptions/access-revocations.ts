import { type Database, statement, type Transaction } from '@fulfilment/database';

/** Access that ended: a client's to one creator, or to all. */
export interface EndedAccess {
  readonly clientId: string;
  /** Null or undefined: all of them. */
  readonly creatorId: string | null | undefined;
  /** By auth-server's clock. */
  readonly endedAt: string;
}

/**
 * SQL: whether a subscription falls with access that ended. The token it was made with says so by its own `iat`, from the same clock: one
 * that was issued before is of the access that ended, one that was issued after it of access given anew, whenever it was used and whenever
 * we hear. A token's time is in whole seconds; within that second it is the moment of its use that counts.
 */
export function fallsWith(authorizedAt: string, madeAt: string, endedAt: string): string {
  return `CASE WHEN ${authorizedAt} = date_trunc('second', ${endedAt}) THEN ${madeAt} <= ${endedAt} ELSE ${authorizedAt} < ${endedAt} END`;
}

// Whoever subscribes for a client and whatever ends its access take turns: the second sees the first.
const lockAlone = statement(
  'ended-access.lock-alone',
  'SELECT pg_advisory_xact_lock(hashtextextended($1, 51))',
);
const lockTogether = statement(
  'ended-access.lock-together',
  'SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 51))',
);
const note = statement(
  'ended-access.note',
  `INSERT INTO webhook_ended_access AS known (client_id, creator_id, ended_at, unfinished) VALUES ($1, $2, $3, true)
   ON CONFLICT (client_id, creator_id) DO UPDATE SET ended_at = greatest(known.ended_at, EXCLUDED.ended_at), unfinished = true`,
);
const unfinished = statement(
  'ended-access.unfinished',
  `SELECT client_id AS "clientId", creator_id AS "creatorId", ended_at::text AS "endedAt" FROM webhook_ended_access
   WHERE unfinished ORDER BY ended_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
);
const finish = statement(
  'ended-access.finish',
  'UPDATE webhook_ended_access SET unfinished = false WHERE client_id = $1 AND creator_id IS NOT DISTINCT FROM $2 AND ended_at <= $3',
);
const find = statement(
  'ended-access.find',
  `SELECT 1 FROM webhook_ended_access
   WHERE client_id = $1 AND (creator_id = $2 OR creator_id IS NULL) AND ${fallsWith('$3::timestamptz', 'now()', 'ended_at')} LIMIT 1`,
);
// No token lives as long (auth-server: an hour).
const forget = statement(
  'ended-access.forget',
  "DELETE FROM webhook_ended_access WHERE ended_at < now() - interval '1 day' AND NOT unfinished",
);

/** SQL: whether the access of a subscription has ended, which is known before all of its subscriptions are ended. @param s alias of `webhook_subscriptions` */
export function accessHasEnded(s: string): string {
  return `EXISTS (SELECT FROM webhook_ended_access a WHERE a.client_id = ${s}.client_id AND (a.creator_id = ${s}.creator_id OR a.creator_id IS NULL)
    AND ${fallsWith(`${s}.authorized_at`, `${s}.created_at`, 'a.ended_at')})`;
}

/** Remembers that access ended, for as long as a token of it may come. From then on nobody subscribes by one, and nothing is sent for its subscriptions. */
export async function noteEndedAccess(
  tx: Transaction,
  { clientId, creatorId, endedAt }: EndedAccess,
): Promise<void> {
  await tx.run(lockAlone, [clientId]);
  await tx.run(note, [clientId, creatorId ?? null, endedAt]);
}

/**
 * Whether the access a token was issued for has ended. The APIs refuse such a token within a second; this holds also in that second, and
 * while Redis is away. Until the transaction's end nothing ends the access.
 */
export async function hasEnded(
  tx: Transaction,
  clientId: string,
  creatorId: string,
  issuedAt: Date,
): Promise<boolean> {
  await tx.run(lockTogether, [clientId]);
  return (await tx.row(find, [clientId, creatorId, issuedAt])) !== undefined;
}

/** Access of which some subscriptions may not have ended yet, locked; undefined when there is none that another replica has not locked. */
export function takeUnfinished(tx: Transaction): Promise<EndedAccess | undefined> {
  return tx.row<EndedAccess & Record<string, unknown>>(unfinished);
}

/** All subscriptions of the access have ended. */
export async function finishEndedAccess(
  tx: Transaction,
  { clientId, creatorId, endedAt }: EndedAccess,
): Promise<void> {
  await tx.run(finish, [clientId, creatorId ?? null, endedAt]);
}

export async function forgetEndedAccess(database: Database): Promise<void> {
  await database.run(forget);
}
