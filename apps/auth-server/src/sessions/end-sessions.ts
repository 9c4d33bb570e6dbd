import { statement, type Transaction } from '@fulfilment/database';
import type { RevokedToken } from '../revocation/deny-list.js';
import { endFamiliesOfSessions, endFamiliesOfUser } from '../tokens/families.js';

const listSessionUids = statement(
  'sessions.of-user',
  `SELECT session_uid AS uid FROM oidc_model
   WHERE model = 'Session' AND account_id = $1 AND session_uid IS DISTINCT FROM $2 ORDER BY session_uid`,
);
const findSession = statement(
  'sessions.one-of-user',
  `SELECT 1 FROM oidc_model WHERE model = 'Session' AND account_id = $1 AND session_uid = $2`,
);
// The mark stays for a day more than the 14 days of a session: a request in progress may save the session
// again, and the mark hides it (tokens/stored-rows.ts).
const markEnded = statement(
  'sessions.mark-ended',
  `INSERT INTO browser_sessions (uid, user_id, ip, ended_at, expires_at)
   SELECT uid, $2, '', now(), now() + interval '15 days' FROM unnest($1::text[]) AS uid ORDER BY uid
   ON CONFLICT (uid) DO UPDATE SET ended_at = now(), expires_at = EXCLUDED.expires_at`,
);
const deleteSessions = statement(
  'sessions.delete',
  `DELETE FROM oidc_model WHERE model = 'Session' AND session_uid = ANY ($1)`,
);

/** Signs out one browser of the user. Returns undefined when the user has no such session. */
export async function endSessionOfUser(
  tx: Transaction,
  userId: string,
  uid: string,
): Promise<RevokedToken[] | undefined> {
  return (await tx.row(findSession, [userId, uid])) === undefined
    ? undefined
    : endSessions(tx, userId, [uid]);
}

/** Signs out all browsers of the user. @param exceptUid session that stays */
export async function endSessionsOfUser(
  tx: Transaction,
  userId: string,
  exceptUid?: string,
): Promise<RevokedToken[]> {
  return endSessions(tx, userId, await uidsOfUser(tx, userId, exceptUid));
}

/** Ends all access of a person: browser sessions and token families, `offline_access` included. */
export async function endAccessOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  const uids = await uidsOfUser(tx, userId);
  await tx.run(markEnded, [uids, userId]);
  // Includes the families of the sessions, so that all families are locked in one order.
  const revoked = await endFamiliesOfUser(tx, userId);
  await tx.run(deleteSessions, [uids]);
  return revoked;
}

/** Ends sessions with the token families that depend on them; families with `offline_access` stay. */
export async function endSessions(
  tx: Transaction,
  userId: string,
  uids: readonly string[],
): Promise<RevokedToken[]> {
  await tx.run(markEnded, [uids, userId]);
  const revoked = await endFamiliesOfSessions(tx, uids);
  await tx.run(deleteSessions, [uids]);
  return revoked;
}

async function uidsOfUser(tx: Transaction, userId: string, exceptUid?: string): Promise<string[]> {
  const sessions = await tx.rows<{ uid: string }>(listSessionUids, [userId, exceptUid ?? null]);
  return sessions.map(({ uid }) => uid);
}
