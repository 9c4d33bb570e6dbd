import { Outbox } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { commonPasswords } from '../accounts/common-passwords.js';
import { newPasswordProblem } from '../accounts/new-password.rules.js';
import { hashPassword } from '../accounts/passwords.js';
import { replacePasswordHashIfUnchanged } from '../accounts/replace-password.js';
import { insertAudit } from '../audit/audit-log.js';
import { deleteConsentsOfUser } from '../connected-apps/consents.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { deleteUnconfirmedSecondFactor } from '../second-factor/second-factors.js';
import { endOtherAccess } from '../sessions/end-sessions.js';
import { DeviceCookies } from '../sign-in/device-cookies.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import { ConfirmPassword } from './confirm-password.js';
import type { SignedInRequest } from './signed-in.pipe.js';
import { ShowSecurity } from './show-security.js';

/**
 * Changes the person's own password. The same commit signs out every other browser, deletes an unconfirmed
 * second factor, ends the token families with `offline_access` of first-party apps and, on request,
 * disconnects all third-party apps.
 */
@Injectable()
export class ChangePassword {
  constructor(
    private readonly confirmPassword: ConfirmPassword,
    private readonly unitOfWork: UnitOfWork,
    private readonly outbox: Outbox,
    private readonly deviceCookies: DeviceCookies,
    private readonly showSecurity: ShowSecurity,
  ) {}

  async run(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, cookies, field } = signedIn;
    const text = await newPasswordProblemText(signedIn);
    if (text !== undefined) return this.showSecurity.run(signedIn, { status: 400, text });
    const confirmation = await this.confirmPassword.verify(signedIn, { action: 'password_changed' });
    if (confirmation.rejection !== undefined) return this.showSecurity.run(signedIn, confirmation.rejection);
    const currentHash = confirmation.passwordHash;
    const newHash = await hashPassword(field('new_password'));
    const disconnectApps = field('disconnect_apps') === 'yes';
    let loginTs: number | undefined;
    await this.unitOfWork.runRevocation(async (tx) => {
      const values = [person.id, currentHash, newHash];
      loginTs = (await tx.row<{ signInTime: number }>(replacePasswordHashIfUnchanged, values))?.signInTime;
      if (loginTs === undefined) return [];
      // Someone who knew the old password may have seen the secret of this factor.
      await tx.run(deleteUnconfirmedSecondFactor, [person.id]);
      const details = { apps_disconnected: disconnectApps };
      await insertAudit(tx, { event: 'password_changed', userId: person.id, details }, signedIn.origin);
      const { sessionUid } = signedIn;
      if (!disconnectApps) return endOtherAccess(tx, person.id, { sessionUid });
      // All access ends in the callback, since the clients must be locked before any token family.
      return disconnectAndPublish(tx, this.outbox, { userId: person.id }, async () => {
        await tx.run(deleteConsentsOfUser, [person.id]);
        return endOtherAccess(tx, person.id, { sessionUid, thirdParties: true });
      });
    });
    // Another change was first, or the account was disabled. If the session has ended, the redirect leads to
    // the sign-in.
    if (loginTs === undefined) return { redirect: '/account/security' };
    await signedIn.rotateSession({ loginTs });
    return {
      redirect: `/account/security?done=${disconnectApps ? 'password-and-apps' : 'password'}`,
      // The signature of the previous device cookie depends on the previous password hash.
      cookie: this.deviceCookies.issue(cookies, { id: person.id, password_hash: newHash }),
    };
  }
}

async function newPasswordProblemText({ person, field }: SignedInRequest): Promise<string | undefined> {
  const chosen = field('new_password');
  const problem = newPasswordProblem(chosen, person.email, await commonPasswords());
  if (problem !== undefined) return `The new password ${problem}.`;
  if (chosen !== field('repeated_password')) return 'The two new passwords do not match.';
  return chosen === field('current_password')
    ? 'The new password is the same as your current password.'
    : undefined;
}
