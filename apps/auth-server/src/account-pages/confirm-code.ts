import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { CheckResult } from '../second-factor/check-result.js';
import { confirmationCodeGuessTarget } from '../sign-in/throttling/guess-target.rules.js';
import { type Guess, SignInThrottle } from '../sign-in/throttling/sign-in-throttle.js';
import type { ConfirmedAction } from './confirm-password.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/**
 * Verifies a code of the second factor before a change to that factor. Guesses are limited per session,
 * separately from those of the password. Wrong and locked guesses are audited.
 */
@Injectable()
export class ConfirmCode {
  constructor(
    private readonly throttle: SignInThrottle,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Returns the guess, unlike `ConfirmPassword`: the text of the problem depends on the caller.
   * @param check verifies the code; returns undefined for a wrong one, `nothingToVerify` if its set-up
   *   or factor no longer exists
   */
  async verify<Result>(
    { person: { id: userId }, sessionUid, origin }: SignedInRequest,
    { action }: { readonly action: Exclude<ConfirmedAction, 'password_changed'> },
    check: () => Promise<CheckResult<Result>>,
  ): Promise<Guess<Result>> {
    const event = 'second_factor_failed';
    const auditIfLocked = { event, userId, details: { intended: action, locked: true } } as const;
    const target = confirmationCodeGuessTarget(sessionUid);
    const guess = await this.throttle.guess(target, { origin, auditIfLocked }, check);
    if (guess.kind === 'wrong')
      await this.audit.write({ event, userId, details: { intended: action, locked: false } }, origin);
    return guess;
  }
}
