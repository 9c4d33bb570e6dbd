import { Injectable } from '@nestjs/common';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import { connectedAppsPage } from '../pages/account/connected-apps.page.js';
import type { Page } from '../pages/page.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows which apps can use the account. */
@Injectable()
export class ShowConnectedApps {
  constructor(private readonly apps: ReadConnectedApps) {}

  async run({ person, account, notice }: SignedInRequest): Promise<Page> {
    return connectedAppsPage(account, await this.apps.list(person.id), notice);
  }
}
