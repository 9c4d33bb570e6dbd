import { Injectable } from '@nestjs/common';
import { ReadAccounts } from '../users/read-accounts.js';
import { InteractionExpired } from '../pages/page-errors.js';
import type { FormProblem } from '../pages/form-problem.js';
import type { Page } from '../pages/page.js';
import { requiredSetupPage, secondFactorPage } from '../pages/sign-in/second-factor.page.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { keyUri, setupKey } from '../second-factor/totp.rules.js';
import type { OpenInteraction } from './interaction.pipe.js';

/** Shows the second step of a sign-in: the code, or the set-up of a second factor. */
@Injectable()
export class SecondFactorPrompt {
  constructor(
    private readonly factors: SecondFactors,
    private readonly accounts: ReadAccounts,
  ) {}

  /**
   * Returns the id of the user whose password was verified and has not changed since; undefined when the
   * sign-in must start with the password.
   */
  async userIdWithVerifiedPassword(interaction: OpenInteraction): Promise<string | undefined> {
    const { passwordVerifiedFor: userId, passwordVerifiedAt } = interaction;
    if (userId === undefined) return undefined;
    return (await this.accounts.isSignInExpired(userId, passwordVerifiedAt)) ? undefined : userId;
  }

  /** @param userId the user whose password was verified */
  async show({ context }: OpenInteraction, userId: string, problem?: FormProblem): Promise<Page> {
    const view = { ...context, problem };
    const { confirmed, setupOpen } = await this.factors.stateOf(userId);
    if (confirmed) return secondFactorPage(view);
    // A secret is shown only once, so the page that reports a problem does not contain it. If the set-up has
    // expired, a new one begins.
    if (problem !== undefined && setupOpen) return requiredSetupPage(view, undefined);
    const secret = await this.factors.beginSetup(userId);
    if (secret === undefined) return secondFactorPage(view);
    const person = await this.accounts.person(userId);
    if (person === undefined) throw new InteractionExpired();
    return requiredSetupPage(view, {
      keyUri: keyUri(secret, person.email),
      setupKey: setupKey(secret),
    });
  }
}
