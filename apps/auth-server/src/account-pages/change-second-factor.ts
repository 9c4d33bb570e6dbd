import { Database } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuditLog, insertAudit, originOf } from '../audit/audit-log.js';
import type { Notice } from '../pages/account.page.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { recoveryCodesPage } from '../pages/second-factor-setup.page.js';
import { totpLockedText, removeSecondFactor, SecondFactors } from '../second-factor/second-factors.js';
import { confirmationGuess } from '../sign-in/guess-target.rules.js';
import { SignInThrottle, waitInWords } from '../sign-in/sign-in-throttle.js';
import { ConfirmPassword } from './confirm-password.js';
import { RotateSession } from './rotate-session.js';
import { OpenAccount, type SignedIn } from './open-account.js';
import { ShowSecurity } from './show-security.js';

/** Removes the person's second factor, or renews its recovery codes. */
@Injectable()
export class ChangeSecondFactor {
  constructor(
    private readonly account: OpenAccount,
    private readonly factors: SecondFactors,
    private readonly confirmPassword: ConfirmPassword,
    private readonly throttle: SignInThrottle,
    private readonly rotateSession: RotateSession,
    private readonly audit: AuditLog,
    private readonly security: ShowSecurity,
    private readonly database: Database,
  ) {}

  /** Removes the second factor, unless the person's role requires one. */
  async remove(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.requireSignedInWithCsrfToken(request, response);
    const { person } = signedIn;
    const origin = originOf(request);
    if (this.factors.isRequiredOf(person)) {
      const text = 'Your role requires a second factor, so you cannot turn it off.';
      return this.security.page(signedIn, { kind: 'problem', status: 403, text });
    }
    const rejection = await this.verifyBothFactors(signedIn, request, 'second_factor_removed');
    if (rejection !== undefined) return this.security.page(signedIn, rejection);
    await this.database.transaction(async (tx) => {
      if ((await tx.run(removeSecondFactor, [person.id])) === 0) return;
      await insertAudit(tx, { event: 'second_factor_removed', userId: person.id }, origin);
    });
    await this.rotateSession.run(request, response);
    return { redirect: '/account/security?done=factor-off' };
  }

  /** Replaces all recovery codes, and shows the new ones once. */
  async renewRecoveryCodes(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.requireSignedInWithCsrfToken(request, response);
    const { person, frame } = signedIn;
    const origin = originOf(request);
    const rejection = await this.verifyBothFactors(signedIn, request, 'recovery_codes_made');
    if (rejection !== undefined) return this.security.page(signedIn, rejection);
    const codes = await this.database.transaction(async (tx) => {
      const made = await this.factors.newRecoveryCodes(tx, person.id);
      if (made !== undefined)
        await insertAudit(tx, { event: 'recovery_codes_made', userId: person.id }, origin);
      return made;
    });
    return codes === undefined ? { redirect: '/account/security' } : recoveryCodesPage(frame, codes);
  }

  /** Returns the problem to show, or undefined when both the password and the code are correct. */
  private async verifyBothFactors(
    signedIn: SignedIn,
    request: Request,
    intended: 'second_factor_removed' | 'recovery_codes_made',
  ): Promise<Notice | undefined> {
    const origin = originOf(request);
    const { id: userId } = signedIn.person;
    const password = field(request, 'current_password');
    const wrongPassword = await this.confirmPassword.verify(signedIn, password, origin, intended);
    if (wrongPassword !== undefined) return wrongPassword;
    const ifLocked = { event: 'second_factor_failed', userId, details: { intended, locked: true } } as const;
    // Counted apart from the session's password confirmations.
    const target = confirmationGuess(`codes-${signedIn.sessionUid}`);
    const guess = await this.throttle.guess(target, { origin, ifLocked }, () =>
      this.factors.prove(userId, field(request, 'code')),
    );
    if (guess.kind === 'right') return undefined;
    if (guess.kind === 'locked') {
      const text = `Too many incorrect codes. ${waitInWords(guess.waitSeconds)}`;
      return { kind: 'problem', status: 429, text, retryAfterSeconds: guess.waitSeconds };
    }
    await this.audit.write(origin, { event: 'second_factor_failed', userId, details: { intended } });
    const { totpLocked } = await this.factors.stateOf(userId);
    const text = totpLocked
      ? totpLockedText
      : 'The code is incorrect or was already used. Wait for the next code and try again.';
    return { kind: 'problem', status: 401, text };
  }
}
