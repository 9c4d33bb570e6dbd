import { Injectable } from '@nestjs/common';
import { ReadAccounts, type Person } from '../users/read-accounts.js';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import { overviewPage } from '../pages/account/overview.page.js';
import type { Page } from '../pages/page.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows the overview of the account, with links to its parts. */
@Injectable()
export class ShowOverview {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly apps: ReadConnectedApps,
    private readonly browsers: BrowserSessions,
    private readonly factors: SecondFactors,
  ) {}

  async run(signedIn: SignedInRequest, notice = signedIn.notice): Promise<Page> {
    const { person, account } = signedIn;
    const [creators, organisation, apps, browsers, factor] = await Promise.all([
      this.accounts.creators(person.id),
      this.accounts.organisationName(person.organisation_id),
      this.apps.list(person.id),
      this.browsers.list(person.id),
      this.factors.stateOf(person.id),
    ]);
    const view = {
      name: person.name,
      actsFor: describeRole(person, organisation),
      creators: creators.map(({ name }) => name),
      appCount: apps.length,
      browserCount: browsers.length,
      hasSecondFactor: factor.confirmed,
    };
    return overviewPage(account, view, notice);
  }
}

function describeRole(person: Person, organisation: string | undefined): string | undefined {
  if (person.global_admin) return 'the platform, as a global admin';
  if (organisation === undefined) return undefined;
  return `${organisation}, as ${person.role ?? 'member'}`;
}
