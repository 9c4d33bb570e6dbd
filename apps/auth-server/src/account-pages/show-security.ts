import { Injectable } from '@nestjs/common';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import type { Notice } from '../pages/account/account.page.js';
import type { Page } from '../pages/page.js';
import { securityPage } from '../pages/account/security.page.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Texts by the query parameter `done` of a redirect to this page. */
const doneTexts: ReadonlyMap<unknown, string> = new Map([
  [
    'password',
    'Your password has been changed. You are signed out of all other browsers and of our own apps.',
  ],
  [
    'password-and-apps',
    'Your password has been changed. You are signed out of all other browsers and of our own apps, and all other apps are disconnected.',
  ],
  ['factor-off', 'The second factor is turned off.'],
]);

/** Shows how the account is protected. */
@Injectable()
export class ShowSecurity {
  constructor(
    private readonly factors: SecondFactors,
    private readonly apps: ReadConnectedApps,
  ) {}

  /** @param completedAction query parameter `done` of the redirect after a form */
  async run(signedIn: SignedInRequest, completedAction: unknown): Promise<Page> {
    const text = doneTexts.get(completedAction);
    return this.page(signedIn, text === undefined ? undefined : { kind: 'done', text });
  }

  async page({ person, account }: SignedInRequest, notice?: Notice): Promise<Page> {
    const [state, apps] = await Promise.all([this.factors.stateOf(person.id), this.apps.list(person.id)]);
    const view = {
      secondFactor: state.confirmed,
      recoveryCodesLeft: state.recoveryCodesLeft,
      secondFactorRequired: this.factors.isRequiredOf(person),
      thirdPartyApps: apps.filter((app) => !app.first_party).length,
    };
    return securityPage(account, view, notice);
  }
}
