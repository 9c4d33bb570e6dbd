import { Database } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { insertAudit } from '../audit/audit-log.js';
import { type FormProblem, lockedProblem } from '../pages/form-problem.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { recoveryCodesPage } from '../pages/account/second-factor-setup.page.js';
import { deleteSecondFactor, SecondFactors } from '../second-factor/second-factors.js';
import { ConfirmCode } from './confirm-code.js';
import { ConfirmPassword } from './confirm-password.js';
import type { SignedInRequest } from './signed-in.pipe.js';
import { ShowSecurity } from './show-security.js';

/** Removes the person's second factor, or renews its recovery codes. */
@Injectable()
export class ChangeSecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly confirmPassword: ConfirmPassword,
    private readonly confirmCode: ConfirmCode,
    private readonly showSecurity: ShowSecurity,
    private readonly database: Database,
  ) {}

  /** Removes the second factor, unless the person's role requires one. */
  async remove(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, origin } = signedIn;
    if (this.factors.isRequiredByRole(person)) {
      const text = 'Your role requires a second factor, so you cannot turn it off.';
      return this.showSecurity.run(signedIn, { status: 403, text });
    }
    const rejection = await this.verifyBothFactors(signedIn, 'second_factor_removed');
    if (rejection !== undefined) return this.showSecurity.run(signedIn, rejection);
    await this.database.transaction(async (tx) => {
      if ((await tx.run(deleteSecondFactor, [person.id])) === 0) return;
      await insertAudit(tx, { event: 'second_factor_removed', userId: person.id }, origin);
    });
    await signedIn.rotateSession();
    return { redirect: '/account/security?done=factor-off' };
  }

  /** Replaces all recovery codes, and shows the new ones once. */
  async renewRecoveryCodes(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, account, origin } = signedIn;
    const rejection = await this.verifyBothFactors(signedIn, 'recovery_codes_made');
    if (rejection !== undefined) return this.showSecurity.run(signedIn, rejection);
    const codes = await this.database.transaction(async (tx) => {
      const newCodes = await this.factors.renewRecoveryCodes(tx, person.id);
      if (newCodes !== undefined)
        await insertAudit(tx, { event: 'recovery_codes_made', userId: person.id }, origin);
      return newCodes;
    });
    await signedIn.rotateSession();
    return codes === undefined ? { redirect: '/account/security' } : recoveryCodesPage(account, codes);
  }

  /** Returns the problem to show, or undefined when both the password and the code are correct. */
  private async verifyBothFactors(
    signedIn: SignedInRequest,
    action: 'second_factor_removed' | 'recovery_codes_made',
  ): Promise<FormProblem | undefined> {
    const { person, origin, field } = signedIn;
    const { rejection } = await this.confirmPassword.verify(signedIn, { action });
    if (rejection !== undefined) return rejection;
    const guess = await this.confirmCode.verify(signedIn, { action }, () =>
      this.factors.verifyCode(person.id, field('code'), origin),
    );
    if (guess.kind === 'correct') return undefined;
    if (guess.kind === 'locked') return lockedProblem('incorrect codes', guess.waitSeconds);
    return guess.kind === 'wrong'
      ? { status: 401, text: await this.factors.wrongCodeText(person.id) }
      : { status: 409, text: 'The second factor is already off.' }; // another tab removed it
  }
}
