import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { verifyPassword } from '../accounts/passwords.js';
import { ReadAccounts } from '../users/read-accounts.js';
import { AuditLog, originOf } from '../audit/audit-log.js';
import { numericDate } from '../oidc/lifetimes.rules.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { FormTokens } from '../pages/form-tokens.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { signInPage } from '../pages/sign-in.page.js';
import { passwordOnly } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { DeviceCookies } from './device-cookies.js';
import { FinishSignIn } from './finish-sign-in.js';
import { accountKey, passwordGuess } from './guess-target.rules.js';
import { type OpenInteraction, openInteraction } from './open-interaction.js';
import { SignInThrottle, waitInWords } from './sign-in-throttle.js';

/**
 * Signs a person in, or shows the sign-in page with an error. An unknown e-mail address gets the same text
 * after the same time as a wrong password.
 */
@Injectable()
export class SignIn {
  constructor(
    private readonly oidc: OidcServer,
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
    private readonly devices: DeviceCookies,
    private readonly finish: FinishSignIn,
    private readonly factors: SecondFactors,
    private readonly forms: FormTokens,
    private readonly audit: AuditLog,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const interaction = await openInteraction(this.oidc, request, response);
    this.forms.verify(interaction.uid, field(request, 'csrf'), request);
    if (interaction.prompt !== 'login') return { redirect: `/interaction/${interaction.uid}` };
    const email = field(request, 'email').trim();
    const origin = originOf(request);
    const { clientId } = interaction.client;

    // Before the lookup, so that a concurrent change counts as later.
    const passwordAt = numericDate(this.clock());
    const lookup = await this.accounts.findByEmail(email);
    const { user } = lookup;
    const account = accountKey(lookup);
    const target = passwordGuess({ account, address: origin.ip, device: this.devices.find(request, user) });
    const ifLocked = { event: 'sign_in_locked', clientId, userId: user?.id } as const;
    // An unknown name costs the same work, so that the duration does not reveal which accounts exist.
    const guess = await this.throttle.guess(target, { origin, ifLocked }, async () =>
      (await verifyPassword(field(request, 'password'), user?.password_hash)) ? user : undefined,
    );
    if (guess.kind === 'locked') return this.locked(interaction, email, guess.waitSeconds);
    if (guess.kind === 'wrong') {
      await this.audit.write(origin, { event: 'sign_in_failed', clientId, userId: user?.id });
      return this.failed(interaction, email);
    }
    if (await this.factors.isNeeded(guess.result.id)) {
      await interaction.remember({ passwordOf: guess.result.id, passwordAt });
      return { redirect: `/interaction/${interaction.uid}` };
    }
    return this.finish.run(interaction, request, response, guess.result, {
      at: passwordAt,
      amr: passwordOnly,
    });
  }

  private failed({ uid, appName, formTargets }: OpenInteraction, email: string): Outcome {
    const text = 'Incorrect e-mail address or password. Check both and try again.';
    const csrf = this.forms.issue(uid);
    return signInPage({ uid, appName, formTargets, email, csrf, problem: { status: 401, text } });
  }

  private locked(
    { uid, appName, formTargets }: OpenInteraction,
    email: string,
    waitSeconds: number,
  ): Outcome {
    const text = `Too many failed sign-ins. ${waitInWords(waitSeconds)}`;
    const problem = { status: 429, text, retryAfterSeconds: waitSeconds } as const;
    return signInPage({ uid, appName, formTargets, email, csrf: this.forms.issue(uid), problem });
  }
}
