import { statement, type Transaction } from '@fulfilment/database';
import type { RevokedToken } from '../revocation/deny-list.js';
import { deleteUnconfirmedSecondFactor } from '../second-factor/second-factors.js';
import { endAccessOfUser } from '../sessions/end-sessions.js';
import { signInTimeSql } from '../users/read-accounts.js';

// Not now(): the transaction may have begun before a sign-in with the old password, for which it then waited.
// The caller holds the lock of the user.
const setHash = statement(
  'users.set-password',
  'UPDATE users SET password_hash = $2, password_changed_at = clock_timestamp() WHERE id = $1',
);

/**
 * Sets a new password and ends all access: the old password may have been stolen. The caller has locked the
 * user. Returns the access tokens to publish as revoked.
 */
export async function setPasswordAndEndAccess(
  tx: Transaction,
  userId: string,
  hash: string,
): Promise<RevokedToken[]> {
  await tx.run(setHash, [userId, hash]);
  // Someone who knew the old password may have seen the secret of this factor.
  await tx.run(deleteUnconfirmedSecondFactor, [userId]);
  return endAccessOfUser(tx, userId);
}

/**
 * Replaces a hash that was verified before. Changes no row if the password has changed since, or the user was
 * disabled: someone who knows only the old password must not overwrite the new one. Takes the lock of the
 * user before it reads the time, so that every sign-in with the old password counts as earlier.
 */
export const replacePasswordHashIfUnchanged = statement(
  'users.replace-password',
  `WITH person AS (
     SELECT id FROM users WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL FOR NO KEY UPDATE)
   UPDATE users SET password_hash = $3, password_changed_at = clock_timestamp() FROM person WHERE users.id = person.id
   RETURNING ${signInTimeSql} AS "signInTime"`,
);
