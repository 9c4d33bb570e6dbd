import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import { deleteConsentsOfUser } from '../connected-apps/consents.js';
import type { PublishRevokedTokens } from '../revocation/deny-list.js';
import { deleteSecondFactor } from '../second-factor/second-factors.js';
import { endAccessOfUser } from '../sessions/end-sessions.js';
import { lockUser } from '../users/find-user.js';

// An empty hash matches no password, which prevents sign-ins. The new e-mail address is unique, and no one
// can register its domain (RFC 2606 §2).
const redact = statement(
  'users.redact',
  `UPDATE users SET email = 'redacted-' || id || '@redacted.invalid', email_verified = false, name = NULL, password_hash = '',
     disabled_at = coalesce(disabled_at, now()), redacted_at = now() WHERE id = $1`,
);
const redactBrowsers = statement(
  'users.redact-browsers',
  `UPDATE browser_sessions SET ip = '', user_agent = NULL WHERE user_id = $1`,
);
const deleteSignInNetworks = statement(
  'users.delete-networks',
  'DELETE FROM network_sign_ins WHERE user_id = $1',
);

/**
 * Permanently replaces the personal data of an account and ends its access. The id stays, for the audit log
 * and other records. Idempotent.
 * @param user UUID or e-mail address
 */
export async function redactUser(
  database: Database,
  outbox: Outbox,
  publishRevoked: PublishRevokedTokens,
  user: string,
): Promise<{ user_id: string; redacted: true; tokens_ended: number }> {
  const { userId, revoked } = await database.transaction(async (tx) => {
    const { id, redacted_at } = await lockUser(tx, user);
    if (redacted_at !== null) return { userId: id, revoked: [] };
    await tx.run(deleteSecondFactor, [id]); // before the sessions, to avoid a deadlock with a confirmation
    // `disconnectAndPublish` must lock and read the connections before these writes end them.
    const revoked = await disconnectAndPublish(tx, outbox, { userId: id }, async () => {
      await tx.run(redact, [id]);
      await tx.run(deleteConsentsOfUser, [id]);
      return endAccessOfUser(tx, id);
    });
    await tx.run(redactBrowsers, [id]);
    await tx.run(deleteSignInNetworks, [id]);
    await auditOperator(tx, {
      event: 'user_redacted',
      userId: id,
      details: { tokens_ended: revoked.length },
    });
    return { userId: id, revoked };
  });
  await publishRevoked(revoked);
  return { user_id: userId, redacted: true, tokens_ended: revoked.length };
}
