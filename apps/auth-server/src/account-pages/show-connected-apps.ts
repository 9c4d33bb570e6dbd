import { identityScopes, storeScopes } from '@fulfilment/contracts';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import { connectedAppsPage } from '../pages/connected-apps.page.js';
import type { Page } from '../pages/page.js';
import { OpenAccount } from './open-account.js';

const scopeTexts = Object.entries({ ...identityScopes, ...storeScopes });

/** Shows which apps can use the account. */
@Injectable()
export class ShowConnectedApps {
  constructor(
    private readonly account: OpenAccount,
    private readonly apps: ReadConnectedApps,
  ) {}

  async run(request: Request, response: Response): Promise<Page> {
    const { person, frame } = await this.account.requireSignedIn(request, response);
    const apps = await this.apps.list(person.id);
    return connectedAppsPage(
      frame,
      apps.map((app) => ({
        clientId: app.client_id,
        name: app.name ?? 'Unnamed app',
        firstParty: app.first_party,
        creators: app.creators,
        permissions: scopeTexts.flatMap(([scope, text]) => (app.scopes.includes(scope) ? [text] : [])),
        connectedAt: app.connected_at,
      })),
      request.query['done'] === 'disconnected'
        ? { kind: 'done', text: 'The app has been disconnected and no longer has access.' }
        : undefined,
    );
  }
}
