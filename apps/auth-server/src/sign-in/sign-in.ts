import { Injectable } from '@nestjs/common';
import { verifyPassword } from '../accounts/passwords.js';
import { ReadAccounts } from '../users/read-accounts.js';
import { AuditLog } from '../audit/audit-log.js';
import { lockedProblem } from '../pages/form-problem.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { signInPage } from '../pages/sign-in/sign-in.page.js';
import { passwordOnly } from '../second-factor/authentication-methods.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { DeviceCookies } from './device-cookies.js';
import { FinishSignIn } from './finish-sign-in.js';
import { accountKey, passwordGuessTarget } from './throttling/guess-target.rules.js';
import type { OpenInteraction } from './interaction.pipe.js';
import { SignInThrottle } from './throttling/sign-in-throttle.js';

/**
 * Signs a person in, or shows the sign-in page with an error. An unknown e-mail address gets the same text
 * after the same time as a wrong password.
 */
@Injectable()
export class SignIn {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
    private readonly devices: DeviceCookies,
    private readonly finish: FinishSignIn,
    private readonly factors: SecondFactors,
    private readonly audit: AuditLog,
  ) {}

  async run(interaction: OpenInteraction): Promise<PageResult> {
    const { context, origin, cookies, field, currentStepRedirect } = interaction;
    if (interaction.prompt !== 'login') return currentStepRedirect;
    const email = field('email').trim();
    const { clientId } = interaction.client;

    const lookup = await this.accounts.findByEmail(email);
    const { user } = lookup;
    const account = accountKey(lookup);
    const target = passwordGuessTarget({
      account,
      address: origin.ip,
      device: this.devices.find(cookies, user),
    });
    const auditIfLocked = { event: 'sign_in_locked', clientId, userId: user?.id } as const;
    const guess = await this.throttle.guess(target, { origin, auditIfLocked }, async () => {
      const isCorrect = await verifyPassword(field('password'), user?.password_hash);
      return user !== undefined && isCorrect ? this.accounts.confirmSignIn(user) : undefined;
    });
    if (guess.kind === 'locked')
      return signInPage({ ...context, email, problem: lockedProblem('failed sign-ins', guess.waitSeconds) });
    if (guess.kind !== 'correct') {
      await this.audit.write({ event: 'sign_in_failed', clientId, userId: user?.id }, origin);
      const text = 'Incorrect e-mail address or password. Check both and try again.';
      return signInPage({ ...context, email, problem: { status: 401, text } });
    }
    const { id, passwordVerifiedAt } = guess.result;
    if (await this.factors.isNeeded(id)) {
      await interaction.replaceProgress({ passwordVerifiedFor: id, passwordVerifiedAt });
      return currentStepRedirect;
    }
    return this.finish.run(interaction, guess.result, { passwordVerifiedAt, amr: passwordOnly });
  }
}
