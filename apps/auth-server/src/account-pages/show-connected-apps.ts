import { identityScopes, storeScopes } from '@fulfilment/contracts';
import { Injectable } from '@nestjs/common';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import { connectedAppsPage } from '../pages/account/connected-apps.page.js';
import type { Page } from '../pages/page.js';
import type { SignedInRequest } from './signed-in.pipe.js';

const scopeDescriptions = Object.entries({ ...identityScopes, ...storeScopes });

/** Shows which apps can use the account. */
@Injectable()
export class ShowConnectedApps {
  constructor(private readonly apps: ReadConnectedApps) {}

  /** @param completedAction query parameter `done` of the redirect after a form */
  async run({ person, account }: SignedInRequest, completedAction: unknown): Promise<Page> {
    const apps = await this.apps.list(person.id);
    return connectedAppsPage(
      account,
      apps.map((app) => ({
        clientId: app.client_id,
        name: app.name ?? 'Unnamed app',
        firstParty: app.first_party,
        creatorNames: app.creator_names,
        permissions: scopeDescriptions.flatMap(([scope, text]) => (app.scopes.includes(scope) ? [text] : [])),
        connectedAt: app.connected_at,
      })),
      completedAction === 'disconnected'
        ? { kind: 'done', text: 'The app has been disconnected and no longer has access.' }
        : undefined,
    );
  }
}
