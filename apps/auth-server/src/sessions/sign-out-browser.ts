import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { OpenAccount } from '../account/open-account.js';
import { AuditLog, originOf } from '../audit/audit-log.js';
import { field } from '../sign-in/forms.js';
import type { Outcome } from '../sign-in/outcome.js';
import { BrowserSessions } from './browser-sessions.js';

/** Signs another browser of the person out, or all others. */
@Injectable()
export class SignOutBrowser {
  constructor(
    private readonly account: OpenAccount,
    private readonly browsers: BrowserSessions,
    private readonly audit: AuditLog,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const { person, sessionUid } = await this.account.toChange(request, response);
    const which = field(request, 'session');
    if (which === 'others') await this.browsers.endAll(person.id, sessionUid);
    else if (!(await this.browsers.end(person.id, which))) return { redirect: '/account/browsers' };
    await this.audit.write(originOf(request), {
      event: 'browser_signed_out',
      userId: person.id,
      details: { session: which },
    });
    return { redirect: '/account/browsers?done=signed-out' };
  }
}
