import { statement, type Transaction } from '@fulfilment/database';
import type { RevokedToken } from '../revocation/deny-list.js';
import { endFamiliesOfSessions, endFamiliesOfUser } from '../tokens/families.js';

const sessionsOfUser = statement(
  'sessions.of-user',
  `SELECT session_uid AS uid FROM oidc_model
   WHERE model = 'Session' AND account_id = $1 AND session_uid IS DISTINCT FROM $2 ORDER BY session_uid`,
);
const sessionOfUser = statement(
  'sessions.one-of-user',
  `SELECT 1 FROM oidc_model WHERE model = 'Session' AND account_id = $1 AND session_uid = $2`,
);
// Stays until the session would have been over by itself: a request that is under way with it may save it again, and it is not
// found then (tokens/stored-rows.ts).
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

/** Signs one browser of the user out. Undefined when there is no such session of theirs. */
export async function endSessionOfUser(
  tx: Transaction,
  userId: string,
  uid: string,
): Promise<RevokedToken[] | undefined> {
  return (await tx.row(sessionOfUser, [userId, uid])) === undefined ? undefined : endSession(tx, userId, uid);
}

/** Signs all browsers of the user out. @param exceptUid the one that stays */
export async function endSessionsOfUser(
  tx: Transaction,
  userId: string,
  exceptUid?: string,
): Promise<RevokedToken[]> {
  return endAll(tx, userId, await uidsOfUser(tx, userId, exceptUid));
}

/** Ends all a person has: browser sessions and families, `offline_access` too. They sign in anew everywhere. */
export async function endAccessOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  const uids = await uidsOfUser(tx, userId);
  await tx.run(markEnded, [uids, userId]);
  const revoked = await endFamiliesOfUser(tx, userId); // at once, so in one order: those of the sessions are among them
  await tx.run(deleteSessions, [uids]);
  return revoked;
}

/** What lives only as long as the session ends with it; tokens of `offline_access` live on. */
export function endSession(tx: Transaction, userId: string, uid: string): Promise<RevokedToken[]> {
  return endAll(tx, userId, [uid]);
}

async function endAll(tx: Transaction, userId: string, uids: readonly string[]): Promise<RevokedToken[]> {
  await tx.run(markEnded, [uids, userId]);
  const revoked = await endFamiliesOfSessions(tx, uids);
  await tx.run(deleteSessions, [uids]);
  return revoked;
}

async function uidsOfUser(tx: Transaction, userId: string, exceptUid?: string): Promise<string[]> {
  const sessions = await tx.rows<{ uid: string }>(sessionsOfUser, [userId, exceptUid ?? null]);
  return sessions.map(({ uid }) => uid);
}
