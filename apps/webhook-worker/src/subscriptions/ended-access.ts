import { type Database, statement, type Transaction } from '@fulfilment/database';

/** Access that ended: a client's to one creator, or to all. */
export interface EndedAccess {
  readonly clientId: string;
  readonly creatorId: string | undefined;
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
  `INSERT INTO webhook_ended_access AS known (client_id, creator_id, ended_at) VALUES ($1, $2, $3)
   ON CONFLICT (client_id, creator_id) DO UPDATE SET ended_at = greatest(known.ended_at, EXCLUDED.ended_at)`,
);
const find = statement(
  'ended-access.find',
  `SELECT 1 FROM webhook_ended_access
   WHERE client_id = $1 AND (creator_id = $2 OR creator_id IS NULL) AND ${fallsWith('$3::timestamptz', 'now()', 'ended_at')} LIMIT 1`,
);
// No token lives as long (auth-server: an hour).
const forget = statement(
  'ended-access.forget',
  "DELETE FROM webhook_ended_access WHERE ended_at < now() - interval '1 day'",
);

/** Remembers that access ended, for as long as a token of it may come. Nobody subscribes by one any more. */
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

export async function forgetEndedAccess(database: Database): Promise<void> {
  await database.run(forget);
}
