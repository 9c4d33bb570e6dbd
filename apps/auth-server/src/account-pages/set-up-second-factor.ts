import { Injectable } from '@nestjs/common';
import type { Notice } from '../pages/account.page.js';
import { lockedProblem } from '../pages/form-problem.js';
import type { Outcome } from '../pages/outcome.interceptor.js';
import {
  beginSecondFactorPage,
  confirmSecondFactorPage,
  recoveryCodesPage,
} from '../pages/second-factor-setup.page.js';
import { bothFactors } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { enableSecondFactor } from '../second-factor/enable-second-factor.js';
import { keyUri, spelledSecret } from '../second-factor/totp.rules.js';
import { confirmationGuess } from '../sign-in/guess-target.rules.js';
import { type RejectedGuess, SignInThrottle } from '../sign-in/sign-in-throttle.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { ConfirmPassword } from './confirm-password.js';
import type { SignedIn } from './signed-in.pipe.js';

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
  ) {}

  async show({ person, account }: SignedIn): Promise<Outcome> {
    if ((await this.factors.stateOf(person.id)).confirmed) return { redirect: '/account/security' };
    return beginSecondFactorPage(account);
  }

  /** Checks the password and shows a new secret. */
  async begin(signedIn: SignedIn): Promise<Outcome> {
    const { person, account } = signedIn;
    const rejection = await this.confirmPassword.verify(signedIn, 'second_factor_added');
    if (rejection !== undefined) return beginSecondFactorPage(account, rejection);
    const secret = await this.factors.beginSetup(person.id);
    if (secret === undefined) return { redirect: '/account/security' };
    return confirmSecondFactorPage(account, {
      keyUri: keyUri(secret, person.email),
      spelledSecret: spelledSecret(secret),
    });
  }

  /** Checks the first code of the app, whose secret was shown only after the password. */
  async confirm(signedIn: SignedIn): Promise<Outcome> {
    const { person, sessionUid, account, origin, field } = signedIn;
    const { id: userId } = person;
    const auditIfLocked = { event: 'second_factor_failed', userId, details: { locked: true } } as const;
    const guess = await this.throttle.guess(confirmationGuess(sessionUid), { origin, auditIfLocked }, () =>
      enableSecondFactor(this.unitOfWork, this.factors, {
        userId,
        code: field('code'),
        sessionUid,
        origin,
      }),
    );
    if (guess.kind !== 'right') return confirmSecondFactorPage(account, undefined, problemOf(guess));
    await signedIn.rotateSession({ amr: bothFactors });
    return recoveryCodesPage(account, guess.result);
  }
}

function problemOf(guess: RejectedGuess): Notice {
  if (guess.kind === 'locked')
    return { kind: 'problem', ...lockedProblem('incorrect codes', guess.waitSeconds) };
  const text = 'The code is incorrect. Wait for the next code and try again, or start over.';
  return { kind: 'problem', status: 401, text };
}
