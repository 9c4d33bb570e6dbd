import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { newPasswordRefusal } from '../accounts/new-password.rules.js';
import { hashPassword } from '../accounts/passwords.js';
import { updatePassword } from '../accounts/update-password.js';
import { insertAudit, originOf } from '../audit/audit-log.js';
import { numericDate } from '../oidc/numeric-date.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { removeUnconfirmed } from '../second-factor/second-factors.js';
import { endSessionsOfUser } from '../sessions/end-sessions.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { ConfirmPassword } from './confirm-password.js';
import { noteProof } from './note-proof.js';
import { OpenAccount } from './open-account.js';
import { ShowSecurity } from './show-security.js';

/** Changes the password of the person themselves, and signs every other browser out in the same commit. */
@Injectable()
export class ChangePassword {
  constructor(
    private readonly account: OpenAccount,
    private readonly confirmPassword: ConfirmPassword,
    private readonly work: UnitOfWork,
    private readonly oidc: OidcServer,
    private readonly security: ShowSecurity,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.toChange(request, response);
    const { person, sessionUid } = signedIn;
    const origin = originOf(request);
    const current = field(request, 'current_password');
    const chosen = field(request, 'new_password');
    const repeated = field(request, 'repeated_password');

    const text = newPasswordRefusal({ chosen, repeated, current, email: person.email });
    if (text !== undefined) return this.security.page(signedIn, { kind: 'problem', status: 400, text });
    const refusal = await this.confirmPassword.rejection(signedIn, current, origin, 'password_changed');
    if (refusal !== undefined) return this.security.page(signedIn, refusal);
    const hash = await hashPassword(chosen);
    await this.work.revoking(async (tx) => {
      await tx.run(updatePassword, [person.id, hash]);
      await tx.run(removeUnconfirmed, [person.id]);
      await insertAudit(tx, { event: 'password_changed', userId: person.id }, origin);
      return endSessionsOfUser(tx, person.id, sessionUid);
    });
    await noteProof(this.oidc, request, response, { loginTs: numericDate(this.clock()) });
    return { redirect: '/account/security?done=password' };
  }
}
