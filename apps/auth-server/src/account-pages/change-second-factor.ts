import { Database } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { insertAudit, originOf } from '../audit/audit-log.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { recoveryCodesPage } from '../pages/security.page.js';
import { removeSecondFactor, SecondFactors } from '../second-factor/second-factors.js';
import { ConfirmPassword } from './confirm-password.js';
import { OpenAccount } from './open-account.js';
import { ShowSecurity } from './show-security.js';

/** What somebody with a second factor can do about it. */
@Injectable()
export class ChangeSecondFactor {
  constructor(
    private readonly account: OpenAccount,
    private readonly factors: SecondFactors,
    private readonly confirmPassword: ConfirmPassword,
    private readonly security: ShowSecurity,
    private readonly database: Database,
  ) {}

  /** Turns it off, unless the person's role needs it. */
  async remove(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.toChange(request, response);
    const { person } = signedIn;
    const origin = originOf(request);
    if (this.factors.isRequiredOf(person)) {
      const text = 'Your role needs a second factor, so it cannot be turned off.';
      return this.security.page(signedIn, { kind: 'problem', status: 403, text });
    }
    const password = field(request, 'current_password');
    const refusal = await this.confirmPassword.rejection(signedIn, password, origin, 'second_factor_removed');
    if (refusal !== undefined) return this.security.page(signedIn, refusal);
    await this.database.transaction(async (tx) => {
      if ((await tx.run(removeSecondFactor, [person.id])) === 0) return;
      await insertAudit(tx, { event: 'second_factor_removed', userId: person.id }, origin);
    });
    return { redirect: '/account/security?done=factor-off' };
  }

  /** New recovery codes in place of all before, shown once. */
  async renewRecoveryCodes(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.toChange(request, response);
    const { person, frame } = signedIn;
    const origin = originOf(request);
    const password = field(request, 'current_password');
    const refusal = await this.confirmPassword.rejection(signedIn, password, origin, 'recovery_codes_made');
    if (refusal !== undefined) return this.security.page(signedIn, refusal);
    const codes = await this.database.transaction(async (tx) => {
      const made = await this.factors.newRecoveryCodes(tx, person.id);
      if (made !== undefined)
        await insertAudit(tx, { event: 'recovery_codes_made', userId: person.id }, origin);
      return made;
    });
    return codes === undefined ? { redirect: '/account/security' } : recoveryCodesPage(frame, codes);
  }
}
