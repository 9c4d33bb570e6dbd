import { Injectable } from '@nestjs/common';
import { verifyPassword } from '../accounts/passwords.js';
import { ReadAccounts } from '../accounts/read-accounts.js';
import { type AuditEvent, AuditLog, type Origin } from '../audit/audit-log.js';
import type { Notice } from '../pages/account.page.js';
import { confirmationGuess } from '../sign-in/guess-target.rules.js';
import { SignInThrottle, waitInWords } from '../sign-in/sign-in-throttle.js';
import type { SignedIn } from './open-account.js';

/** What asks for the password again, by the event it would be. */
export type Confirmed = Extract<
  AuditEvent,
  'password_changed' | 'second_factor_added' | 'second_factor_removed' | 'recovery_codes_made'
>;

/**
 * Asks for the password again before what an open browser alone must not be enough for. Guesses are limited per session, so that
 * strangers cannot use up the owner's; wrong and locked ones are in the audit log.
 */
@Injectable()
export class ConfirmPassword {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
    private readonly audit: AuditLog,
  ) {}

  /** The problem to show when the password is wrong; undefined when it is right. */
  async rejection(
    { person: { id: userId }, sessionUid }: SignedIn,
    password: string,
    origin: Origin,
    intended: Confirmed,
  ): Promise<Notice | undefined> {
    const event = intended === 'password_changed' ? 'password_change_failed' : 'password_confirmation_failed';
    const ifLocked = { event, userId, details: { intended, locked: true } } as const;
    const guess = await this.throttle.guess(confirmationGuess(sessionUid), { origin, ifLocked }, async () => {
      const stored = await this.accounts.credentials(userId);
      return (await verifyPassword(password, stored?.password_hash)) ? stored : undefined;
    });
    if (guess.kind === 'right') return undefined;
    if (guess.kind === 'wrong') {
      await this.audit.write(origin, { event, userId, details: { intended, locked: false } });
      return { kind: 'problem', status: 401, text: 'Incorrect password.' };
    }
    const { waitSeconds } = guess;
    const text = `Too many passwords were wrong. ${waitInWords(waitSeconds)}`;
    return { kind: 'problem', status: 429, text, retryAfterSeconds: waitSeconds };
  }
}
