import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { browsersPage } from '../pages/browsers.page.js';
import type { Page } from '../pages/page.js';
import { browserName } from '../sessions/browser-name.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import { OpenAccount } from './open-account.js';

/** Shows in which browsers the person is signed in. */
@Injectable()
export class ShowBrowsers {
  constructor(
    private readonly account: OpenAccount,
    private readonly browsers: BrowserSessions,
  ) {}

  async run(request: Request, response: Response): Promise<Page> {
    const { person, sessionUid, frame } = await this.account.requireSignedIn(request, response);
    const browsers = await this.browsers.list(person.id);
    return browsersPage(
      frame,
      browsers.map((browser) => ({
        uid: browser.uid,
        name: browserName(browser.user_agent),
        ip: browser.ip,
        signedInAt: browser.signed_in_at,
        isThis: browser.uid === sessionUid,
      })),
      request.query['done'] === 'signed-out'
        ? { kind: 'done', text: 'Signed out of that browser.' }
        : undefined,
    );
  }
}
