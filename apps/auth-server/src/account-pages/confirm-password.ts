import { Injectable } from '@nestjs/common';
import { verifyPassword } from '../accounts/passwords.js';
import { type Person, ReadAccounts } from '../accounts/read-accounts.js';
import { type AuditEvent, AuditLog, type Origin } from '../audit/audit-log.js';
import type { Notice } from '../pages/account.page.js';
import { SignInThrottle, waitInWords } from '../sign-in/sign-in-throttle.js';

/** What asks for the password again, by the event it would be. */
export type Confirmed = Extract<
  AuditEvent,
  'password_changed' | 'second_factor_added' | 'second_factor_removed' | 'recovery_codes_made'
>;

/**
 * Asks for the password again before what an open browser alone must not be enough for. Guesses count like failed sign-ins, and those
 * that were wrong, or not looked at, are written down.
 */
@Injectable()
export class ConfirmPassword {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
    private readonly audit: AuditLog,
  ) {}

  /** What to tell when it is not right; undefined when it is. */
  async refusal(
    { id: userId, email }: Person,
    password: string,
    origin: Origin,
    intended: Confirmed,
  ): Promise<Notice | undefined> {
    const guess = await this.throttle.guess(email, origin.ip, async () => {
      const stored = await this.accounts.credentials(email);
      return (await verifyPassword(password, stored?.password_hash)) ? stored : undefined;
    });
    if (guess.kind === 'right') return undefined;
    await this.audit.write(origin, {
      event: intended === 'password_changed' ? 'password_change_failed' : 'password_confirmation_failed',
      userId,
      details: { intended, locked: guess.kind === 'locked' },
    });
    if (guess.kind === 'wrong')
      return { kind: 'problem', status: 401, text: 'The current password is not right.' };
    const { waitSeconds } = guess;
    const text = `Too many passwords were wrong. ${waitInWords(waitSeconds)}`;
    return { kind: 'problem', status: 429, text, retryAfterSeconds: waitSeconds };
  }
}
