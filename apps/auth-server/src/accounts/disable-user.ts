import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import { tellingDisconnections } from '../connected-apps/tell-disconnections.js';
import type { TellRevoked } from '../revocation/deny-list.js';
import { endAccessOfUser } from '../sessions/end-sessions.js';
import { lockUser } from './find-user.js';

const disable = statement('users.disable', 'UPDATE users SET disabled_at = now() WHERE id = $1');
const enable = statement('users.enable', 'UPDATE users SET disabled_at = NULL WHERE id = $1');

export interface DisabledUser {
  readonly user_id: string;
  readonly disabled: boolean;
  readonly tokens_ended: number;
}

/** Shuts a person out: no sign-in, every session and token ends with it. Once more changes nothing. @param user UUID or e-mail */
export async function disableUser(
  database: Database,
  outbox: Outbox,
  tell: TellRevoked,
  user: string,
): Promise<DisabledUser> {
  const { id, revoked } = await database.transaction(async (tx) => {
    const { id, disabled_at } = await lockUser(tx, user);
    const revoked = await tellingDisconnections(tx, outbox, { userId: id }, async () => {
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
    return { id, revoked };
  });
  await tell(revoked);
  return { user_id: id, disabled: true, tokens_ended: revoked.length };
}

/** Lets a person in again. What had ended stays ended. @param user UUID or e-mail */
export async function enableUser(
  database: Database,
  user: string,
): Promise<Pick<DisabledUser, 'user_id' | 'disabled'>> {
  return database.transaction(async (tx) => {
    const { id, disabled_at, redacted_at } = await lockUser(tx, user);
    if (redacted_at !== null) throw new Error('This account was redacted: nobody can sign in to it again.');
    if (disabled_at !== null) {
      await tx.run(enable, [id]);
      await auditOperator(tx, { event: 'user_enabled', userId: id });
    }
    return { user_id: id, disabled: false };
  });
}
