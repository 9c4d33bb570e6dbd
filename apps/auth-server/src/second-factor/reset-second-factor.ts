import type { Database } from '@fulfilment/database';
import { lockUser } from '../users/find-user.js';
import { auditOperator } from '../audit/operator-audit.js';
import type { PublishRevokedTokens } from '../revocation/deny-list.js';
import { endSessionsOfUser } from '../sessions/end-sessions.js';
import { deleteSecondFactor } from './second-factors.js';

/**
 * Removes the second factor of a person who lost the app and the recovery codes, and signs out all their
 * browsers. If the role requires a second factor, the next sign-in sets up a new one.
 * @param user UUID or e-mail address
 */
export async function resetSecondFactor(
  database: Database,
  publishRevoked: PublishRevokedTokens,
  user: string,
): Promise<{ user_id: string; had_second_factor: boolean }> {
  const { userId, hadSecondFactor, revoked } = await database.transaction(async (tx) => {
    const { id } = await lockUser(tx, user);
    // A set-up that was begun, but not confirmed, is deleted too.
    const deleted = await tx.row<{ wasConfirmed: boolean }>(deleteSecondFactor, [id]);
    const hadSecondFactor = deleted?.wasConfirmed === true;
    const revoked = await endSessionsOfUser(tx, id);
    if (hadSecondFactor) await auditOperator(tx, { event: 'second_factor_removed', userId: id });
    return { userId: id, hadSecondFactor, revoked };
  });
  await publishRevoked(revoked);
  return { user_id: userId, had_second_factor: hadSecondFactor };
}
