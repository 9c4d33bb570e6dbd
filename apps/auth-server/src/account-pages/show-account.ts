import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ReadAccounts, type VisibleCreator, type Person } from '../accounts/read-accounts.js';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import { overviewPage } from '../pages/overview.page.js';
import type { Page } from '../pages/page.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import { OpenAccount } from './open-account.js';

/** Shows what the account is, and the way to its parts. */
@Injectable()
export class ShowAccount {
  constructor(
    private readonly account: OpenAccount,
    private readonly accounts: ReadAccounts,
    private readonly apps: ReadConnectedApps,
    private readonly browsers: BrowserSessions,
    private readonly factors: SecondFactors,
  ) {}

  async run(request: Request, response: Response): Promise<Page> {
    const { person, frame } = await this.account.toRead(request, response);
    const [creators, apps, browsers, factor] = await Promise.all([
      this.accounts.creators(person.id),
      this.apps.of(person.id),
      this.browsers.of(person.id),
      this.factors.stateOf(person.id),
    ]);
    return overviewPage(frame, {
      name: person.name,
      belongsTo: belongsTo(person, creators),
      creators: creators.map(({ name }) => name ?? 'A creator without a name'),
      apps: apps.length,
      browsers: browsers.length,
      secondFactor: factor.confirmed,
    });
  }
}

function belongsTo(person: Person, [first]: readonly VisibleCreator[]): string | undefined {
  if (person.global_admin) return 'the platform, as a global admin';
  if (person.organisation_id === null) return undefined;
  return `${first?.organisation_name ?? person.organisation_id}, as ${person.role ?? 'member'}`;
}
