import { Injectable } from '@nestjs/common';
import type { Notice } from '../pages/account/account.page.js';
import { browsersPage } from '../pages/account/browsers.page.js';
import type { Page } from '../pages/page.js';
import { browserName } from '../sessions/browser-name.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows in which browsers the person is signed in. */
@Injectable()
export class ShowBrowsers {
  constructor(private readonly browsers: BrowserSessions) {}

  /** @param completedAction query parameter `done` of the redirect after a form */
  async run({ person, sessionUid, account }: SignedInRequest, completedAction: unknown): Promise<Page> {
    const browsers = await this.browsers.list(person.id);
    return browsersPage(
      account,
      browsers.map((browser) => ({
        uid: browser.uid,
        name: browserName(browser.user_agent),
        ip: browser.ip,
        signedInAt: browser.signed_in_at,
        isCurrent: browser.uid === sessionUid,
      })),
      doneNotice(completedAction),
    );
  }
}

function doneNotice(completedAction: unknown): Notice | undefined {
  if (completedAction === 'signed-out') return { kind: 'done', text: 'Signed out of that browser.' };
  if (completedAction === 'signed-out-others')
    return { kind: 'done', text: 'Signed out of all other browsers.' };
  return undefined;
}
