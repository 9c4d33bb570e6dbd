import { statement, type Transaction } from '@fulfilment/database';
import type { RevokedToken } from '../revocation/deny-list.js';
import {
  endFamiliesOfSessions,
  endFamiliesOfSessionsAndOffline,
  endFamiliesOfUser,
} from '../tokens/families.js';

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
  `WITH person AS MATERIALIZED (SELECT id FROM users WHERE id = $2 FOR KEY SHARE)
   INSERT INTO browser_sessions (uid, user_id, ip, ended_at, expires_at)
   SELECT uid, person.id, '', now(), now() + interval '15 days' FROM person, unnest($1::text[]) AS uid ORDER BY uid
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

/**
 * Signs out all other browsers of the user, and ends the first-party families with `offline_access`.
 * @param options `sessionUid`: session that stays; `thirdParties`: whether all third-party families end, too
 */
export async function endOtherAccess(
  tx: Transaction,
  userId: string,
  {
    sessionUid,
    thirdParties = false,
  }: { readonly sessionUid: string | undefined; readonly thirdParties?: boolean },
): Promise<RevokedToken[]> {
  const sessionUids = await uidsOfUser(tx, userId, sessionUid);
  return endSessionsAndFamilies(tx, userId, sessionUids, () =>
    endFamiliesOfSessionsAndOffline(tx, userId, { sessionUids, thirdParties }),
  );
}

/** Ends all access of a person: browser sessions and token families, `offline_access` included. */
export async function endAccessOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return endSessionsAndFamilies(tx, userId, await uidsOfUser(tx, userId), () =>
    endFamiliesOfUser(tx, userId),
  );
}

/**
 * Ends sessions with the token families that depend on them, and their unused codes. Families with
 * `offline_access` stay.
 */
export function endSessions(
  tx: Transaction,
  userId: string,
  uids: readonly string[],
): Promise<RevokedToken[]> {
  return endSessionsAndFamilies(tx, userId, uids, () => endFamiliesOfSessions(tx, uids));
}

/** @param endFamilies ends all families in one statement, since their Grants are locked in one order */
async function endSessionsAndFamilies(
  tx: Transaction,
  userId: string,
  uids: readonly string[],
  endFamilies: () => Promise<RevokedToken[]>,
): Promise<RevokedToken[]> {
  await tx.run(markEnded, [uids, userId]);
  const revoked = await endFamilies();
  await tx.run(deleteSessions, [uids]);
  return revoked;
}

async function uidsOfUser(tx: Transaction, userId: string, exceptUid?: string): Promise<string[]> {
  const sessions = await tx.rows<{ uid: string }>(listSessionUids, [userId, exceptUid ?? null]);
  return sessions.map(({ uid }) => uid);
}
