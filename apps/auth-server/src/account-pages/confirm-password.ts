import { Injectable } from '@nestjs/common';
import { verifyPassword } from '../accounts/passwords.js';
import { ReadAccounts } from '../users/read-accounts.js';
import { type AuditEvent, AuditLog } from '../audit/audit-log.js';
import { type FormProblem, lockedProblem } from '../pages/form-problem.js';
import { confirmationGuessTarget } from '../sign-in/throttling/guess-target.rules.js';
import { SignInThrottle } from '../sign-in/throttling/sign-in-throttle.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Audit events of the actions that require the password. */
export type ConfirmedAction = Extract<
  AuditEvent,
  'password_changed' | 'second_factor_added' | 'second_factor_removed' | 'recovery_codes_made'
>;

/** The problem to show, or the hash that the password matched, for `replacePasswordHashIfUnchanged`. */
type Confirmation =
  | { readonly rejection: FormProblem; readonly passwordHash?: undefined }
  | { readonly rejection?: undefined; readonly passwordHash: string };

/**
 * Verifies the current password before a change that the session alone does not permit. Guesses are limited
 * per session, so that attackers elsewhere cannot use up the owner's limit. Wrong and locked guesses are
 * audited.
 */
@Injectable()
export class ConfirmPassword {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
    private readonly audit: AuditLog,
  ) {}

  /** Verifies the field `current_password`. */
  async verify(
    { person: { id: userId }, sessionUid, origin, field }: SignedInRequest,
    { action }: { readonly action: ConfirmedAction },
  ): Promise<Confirmation> {
    const event = action === 'password_changed' ? 'password_change_failed' : 'password_confirmation_failed';
    const auditIfLocked = { event, userId, details: { intended: action, locked: true } } as const;
    const guess = await this.throttle.guess(
      confirmationGuessTarget(sessionUid),
      { origin, auditIfLocked },
      async () => {
        const hash = (await this.accounts.credentials(userId))?.password_hash;
        return (await verifyPassword(field('current_password'), hash)) ? hash : undefined;
      },
    );
    if (guess.kind === 'correct') return { passwordHash: guess.result };
    if (guess.kind === 'locked')
      return { rejection: lockedProblem('incorrect passwords', guess.waitSeconds) };
    await this.audit.write({ event, userId, details: { intended: action, locked: false } }, origin);
    return { rejection: { status: 401, text: 'Incorrect password.' } };
  }
}
