import { Injectable } from '@nestjs/common';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import type { Page } from '../pages/page.js';
import { securityPage } from '../pages/account/security.page.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows how the account is protected. */
@Injectable()
export class ShowSecurity {
  constructor(
    private readonly factors: SecondFactors,
    private readonly apps: ReadConnectedApps,
  ) {}

  async run(signedIn: SignedInRequest, notice = signedIn.notice): Promise<Page> {
    const { person, account } = signedIn;
    const [state, apps] = await Promise.all([this.factors.stateOf(person.id), this.apps.list(person.id)]);
    const view = {
      hasSecondFactor: state.confirmed,
      recoveryCodesLeft: state.recoveryCodesLeft,
      isSecondFactorRequired: this.factors.isRequiredByRole(person),
      thirdPartyAppCount: apps.filter((app) => !app.first_party).length,
    };
    return securityPage(account, view, notice);
  }
}
