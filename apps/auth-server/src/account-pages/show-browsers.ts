import { Injectable } from '@nestjs/common';
import { browsersPage } from '../pages/account/browsers.page.js';
import type { Page } from '../pages/page.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows in which browsers the person is signed in. */
@Injectable()
export class ShowBrowsers {
  constructor(private readonly browsers: BrowserSessions) {}

  async run({ person, sessionUid, account, notice }: SignedInRequest): Promise<Page> {
    const view = { browsers: await this.browsers.list(person.id), currentUid: sessionUid };
    return browsersPage(account, view, notice);
  }
}
