import { Injectable } from '@nestjs/common';
import { lockedProblem } from '../pages/form-problem.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import {
  beginSecondFactorPage,
  confirmSecondFactorPage,
  recoveryCodesPage,
} from '../pages/account/second-factor-setup.page.js';
import { bothFactors } from '../second-factor/authentication-methods.js';
import { SecondFactors, setupExpiredText } from '../second-factor/second-factors.js';
import { confirmSecondFactor } from '../second-factor/confirm-second-factor.js';
import { keyUri, setupKey } from '../second-factor/totp.rules.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import { ConfirmCode } from './confirm-code.js';
import { ConfirmPassword } from './confirm-password.js';
import type { SignedInRequest } from './signed-in.pipe.js';
import { ShowSecurity } from './show-security.js';

/**
 * Sets up a second factor in three steps: the password, a new secret with its first code, the recovery codes.
 * The secret is shown only after the password, and only once.
 */
@Injectable()
export class SetUpSecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly confirmPassword: ConfirmPassword,
    private readonly confirmCode: ConfirmCode,
    private readonly unitOfWork: UnitOfWork,
    private readonly showSecurity: ShowSecurity,
  ) {}

  async show({ person, account }: SignedInRequest): Promise<PageResult> {
    if ((await this.factors.stateOf(person.id)).confirmed) return { redirect: '/account/security' };
    return beginSecondFactorPage(account);
  }

  /** Verifies the password and shows a new secret; redirects when a second factor is already confirmed. */
  async begin(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, account } = signedIn;
    const { rejection } = await this.confirmPassword.verify(signedIn, { action: 'second_factor_added' });
    if (rejection !== undefined) return beginSecondFactorPage(account, rejection);
    const secret = await this.factors.beginSetup(person.id);
    if (secret === undefined) return { redirect: '/account/security' };
    const setup = { keyUri: keyUri(secret, person.email), setupKey: setupKey(secret) };
    return confirmSecondFactorPage(account, { setup });
  }

  /** Verifies the first code of the app, and shows the recovery codes. */
  async confirm(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, sessionUid, account, origin, field } = signedIn;
    const guess = await this.confirmCode.verify(signedIn, { action: 'second_factor_added' }, () =>
      confirmSecondFactor(this.unitOfWork, this.factors, {
        userId: person.id,
        code: field('code'),
        sessionUid,
        origin,
      }),
    );
    if (guess.kind === 'nothing to verify') return this.showEndedSetup(signedIn);
    if (guess.kind !== 'correct') {
      const text = 'The code is incorrect. Wait for the next code and try again, or start over.';
      const notice =
        guess.kind === 'locked' ? lockedProblem('incorrect codes', guess.waitSeconds) : { status: 401, text };
      return confirmSecondFactorPage(account, { notice });
    }
    await signedIn.rotateSession({ amr: bothFactors });
    const { result: recoveryCodes } = guess;
    return recoveryCodesPage(account, recoveryCodes);
  }

  /** Returns the page for a code that arrived after its set-up had ended. */
  private async showEndedSetup(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, account } = signedIn;
    if (!(await this.factors.stateOf(person.id)).confirmed)
      return beginSecondFactorPage(account, { status: 409, text: setupExpiredText });
    // The form was sent twice, and the browser may not have shown the recovery codes of the first response.
    const text = 'The second factor is already on. If you have not saved recovery codes, create new ones.';
    return this.showSecurity.run(signedIn, { status: 409, text });
  }
}
