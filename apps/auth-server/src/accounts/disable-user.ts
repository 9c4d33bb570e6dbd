import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import { creatorsOfConsents } from '../connected-apps/consents.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import { publishCreators } from '../creator-snapshots/publish-creators.js';
import type { PublishRevokedTokens } from '../revocation/deny-list.js';
import { endAccessOfUser } from '../sessions/end-sessions.js';
import { lockUser } from '../users/find-user.js';

const disable = statement('users.disable', 'UPDATE users SET disabled_at = now() WHERE id = $1');
const enable = statement('users.enable', 'UPDATE users SET disabled_at = NULL WHERE id = $1');

interface DisabledUser {
  readonly user_id: string;
  readonly disabled: boolean;
  readonly tokens_ended: number;
}

/**
 * Disables an account: prevents sign-in and ends all sessions and tokens. If it is already disabled, ends
 * them once more.
 * @param user UUID or e-mail address
 */
export async function disableUser(
  database: Database,
  outbox: Outbox,
  publishRevoked: PublishRevokedTokens,
  user: string,
): Promise<DisabledUser> {
  const { userId, revoked } = await database.transaction(async (tx) => {
    const { id, disabled_at } = await lockUser(tx, user);
    const revoked = await disconnectAndPublish(tx, outbox, { userId: id }, async () => {
      if (disabled_at === null) await tx.run(disable, [id]);
      return endAccessOfUser(tx, id);
    });
    if (disabled_at === null) {
      await auditOperator(tx, {
        event: 'user_disabled',
        userId: id,
        details: { tokens_ended: revoked.length },
      });
    }
    return { userId: id, revoked };
  });
  await publishRevoked(revoked);
  return { user_id: userId, disabled: true, tokens_ended: revoked.length };
}

/**
 * Enables a disabled account. Ended sessions and tokens stay ended. Apps with a remembered consent count as
 * connected, but get new tokens only after the person has signed in.
 * @param user UUID or e-mail address
 */
export async function enableUser(
  database: Database,
  outbox: Outbox,
  user: string,
): Promise<Pick<DisabledUser, 'user_id' | 'disabled'>> {
  return database.transaction(async (tx) => {
    const { id, disabled_at, redacted_at } = await lockUser(tx, user);
    if (redacted_at !== null) throw new Error('This account was redacted and cannot be used again.');
    if (disabled_at !== null) {
      await tx.run(enable, [id]);
      await publishCreators(tx, outbox, await creatorsOfConsents(tx, id));
      await auditOperator(tx, { event: 'user_enabled', userId: id });
    }
    return { user_id: id, disabled: false };
  });
}
