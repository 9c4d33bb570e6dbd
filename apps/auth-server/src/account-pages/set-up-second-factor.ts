import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { originOf } from '../audit/audit-log.js';
import { OidcServer } from '../oidc/oidc-server.js';
import type { Notice } from '../pages/account.page.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { recoveryCodesPage, secondFactorSetupPage } from '../pages/security.page.js';
import { bothFactors } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { switchOnSecondFactor } from '../second-factor/switch-on.js';
import { keyUri, spelledSecret } from '../second-factor/totp.rules.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { ConfirmPassword } from './confirm-password.js';
import { noteProof } from './note-proof.js';
import { OpenAccount, type SignedIn } from './open-account.js';

/** Has the person set a second factor up: show the secret, take the first code, show the recovery codes. */
@Injectable()
export class SetUpSecondFactor {
  constructor(
    private readonly account: OpenAccount,
    private readonly factors: SecondFactors,
    private readonly confirmPassword: ConfirmPassword,
    private readonly work: UnitOfWork,
    private readonly oidc: OidcServer,
  ) {}

  async show(request: Request, response: Response): Promise<Outcome> {
    return this.setupPage(await this.account.toRead(request, response));
  }

  async confirm(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.toChange(request, response);
    const { person, sessionUid, frame } = signedIn;
    const origin = originOf(request);
    const password = field(request, 'current_password');
    const refusal = await this.confirmPassword.rejection(signedIn, password, origin, 'second_factor_added');
    if (refusal !== undefined) return this.setupPage(signedIn, refusal);
    const code = field(request, 'code');
    const codes = await switchOnSecondFactor(this.work, this.factors, {
      userId: person.id,
      code,
      sessionUid,
      origin,
    });
    if (codes === undefined) {
      const text = 'This code is not right. Wait for the next one and try again.';
      return this.setupPage(signedIn, { kind: 'problem', status: 401, text });
    }
    await noteProof(this.oidc, request, response, { amr: bothFactors });
    return recoveryCodesPage(frame, codes);
  }

  private async setupPage({ person, frame }: SignedIn, notice?: Notice): Promise<Outcome> {
    const secret = await this.factors.beginSetup(person.id);
    if (secret === undefined) return { redirect: '/account/security' };
    return secondFactorSetupPage(
      frame,
      { keyUri: keyUri(secret, person.email), spelledSecret: spelledSecret(secret) },
      notice,
    );
  }
}
