import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
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
import { confirmationCodeGuessTarget } from '../sign-in/throttling/guess-target.rules.js';
import { SignInThrottle } from '../sign-in/throttling/sign-in-throttle.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
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
    private readonly throttle: SignInThrottle,
    private readonly unitOfWork: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly showSecurity: ShowSecurity,
  ) {}

  async show({ person, account }: SignedInRequest): Promise<PageResult> {
    if ((await this.factors.stateOf(person.id)).confirmed) return { redirect: '/account/security' };
    return beginSecondFactorPage(account);
  }

  /** Verifies the password and shows a new secret; redirects when a second factor is already confirmed. */
  async begin(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, account } = signedIn;
    const { rejection } = await this.confirmPassword.verify(signedIn, 'second_factor_added');
    if (rejection !== undefined) return beginSecondFactorPage(account, rejection);
    const secret = await this.factors.beginSetup(person.id);
    if (secret === undefined) return { redirect: '/account/security' };
    const setup = { keyUri: keyUri(secret, person.email), setupKey: setupKey(secret) };
    return confirmSecondFactorPage(account, { setup });
  }

  /** Verifies the first code of the app, and shows the recovery codes. */
  async confirm(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, sessionUid, account, origin, field } = signedIn;
    const { id: userId } = person;
    const details = { intended: 'second_factor_added' };
    const auditIfLocked = {
      event: 'second_factor_failed',
      userId,
      details: { ...details, locked: true },
    } as const;
    const target = confirmationCodeGuessTarget(sessionUid);
    const guess = await this.throttle.guess(target, { origin, auditIfLocked }, () =>
      confirmSecondFactor(this.unitOfWork, this.factors, {
        userId,
        code: field('code'),
        sessionUid,
        origin,
      }),
    );
    if (guess.kind === 'locked')
      return confirmSecondFactorPage(account, {
        notice: lockedProblem('incorrect codes', guess.waitSeconds),
      });
    if (guess.kind === 'wrong') {
      const ended = await this.showIfSetupEnded(signedIn);
      if (ended !== undefined) return ended;
      await this.audit.write({ event: 'second_factor_failed', userId, details }, origin);
      const text = 'The code is incorrect. Wait for the next code and try again, or start over.';
      return confirmSecondFactorPage(account, { notice: { status: 401, text } });
    }
    await signedIn.rotateSession({ amr: bothFactors });
    return recoveryCodesPage(account, guess.result);
  }

  /**
   * Returns the page for a code that arrived after its set-up had ended; undefined while the set-up is open.
   */
  private async showIfSetupEnded(signedIn: SignedInRequest): Promise<PageResult | undefined> {
    const { person, account } = signedIn;
    const { confirmed, setupOpen } = await this.factors.stateOf(person.id);
    if (setupOpen) return undefined;
    if (!confirmed) return beginSecondFactorPage(account, { status: 409, text: setupExpiredText });
    // The form was sent twice, and the browser may not have shown the recovery codes of the first response.
    const text = 'The second factor is already on. If you have not saved recovery codes, create new ones.';
    return this.showSecurity.run(signedIn, { status: 409, text });
  }
}
