import type { Database } from '@fulfilment/database';
import { auditOperator } from '../audit/operator-audit.js';
import type { PublishRevokedTokens } from '../revocation/deny-list.js';
import { findUser, lockUser } from '../users/find-user.js';
import { hashPassword } from './passwords.js';
import { assertAcceptablePassword } from './assert-acceptable-password.js';
import { setPasswordAndEndAccess } from './replace-password.js';

/**
 * Sets a person's password after it was forgotten or stolen, and ends all sessions and tokens.
 * @param user UUID or e-mail address
 */
export async function setPassword(
  database: Database,
  publishRevoked: PublishRevokedTokens,
  user: string,
  password: string,
): Promise<{ user_id: string; tokens_ended: number }> {
  await assertAcceptablePassword(password, (await findUser(database, user)).email);
  const hash = await hashPassword(password);
  const { userId, revoked } = await database.transaction(async (tx) => {
    const { id, redacted_at } = await lockUser(tx, user);
    if (redacted_at !== null) throw new Error('This account was redacted and cannot be used again.');
    const revoked = await setPasswordAndEndAccess(tx, id, hash);
    await auditOperator(tx, {
      event: 'password_changed',
      userId: id,
      details: { tokens_ended: revoked.length },
    });
    return { userId: id, revoked };
  });
  await publishRevoked(revoked);
  return { user_id: userId, tokens_ended: revoked.length };
}
