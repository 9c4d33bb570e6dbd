import type { Database } from '@fulfilment/database';
import { lockUser } from '../accounts/find-user.js';
import { auditOperator } from '../audit/operator-audit.js';
import type { TellRevoked } from '../revocation/deny-list.js';
import { endSessionsOfUser } from '../sessions/end-sessions.js';
import { removeSecondFactor } from './second-factors.js';

/**
 * Takes the second factor off the account of a person who lost their app and their recovery codes, and signs them out of every
 * browser. Whoever needs one sets it up anew at the next sign-in. @param user UUID or e-mail
 */
export async function resetSecondFactor(
  database: Database,
  tell: TellRevoked,
  user: string,
): Promise<{ user_id: string; had_second_factor: boolean }> {
  const { id, had, revoked } = await database.transaction(async (tx) => {
    const { id } = await lockUser(tx, user);
    const had = (await tx.run(removeSecondFactor, [id])) > 0;
    const revoked = await endSessionsOfUser(tx, id);
    if (had) await auditOperator(tx, { event: 'second_factor_removed', userId: id });
    return { id, had, revoked };
  });
  await tell(revoked);
  return { user_id: id, had_second_factor: had };
}
