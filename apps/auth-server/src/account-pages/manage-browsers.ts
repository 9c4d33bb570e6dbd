import { Injectable } from '@nestjs/common';
import { insertAudit } from '../audit/audit-log.js';
import { browsersPage } from '../pages/account/browsers.page.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import { endSessionOfUser, endSessionsOfUser } from '../sessions/end-sessions.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows in which browsers the person is signed in, and signs them out. */
@Injectable()
export class ManageBrowsers {
  constructor(
    private readonly browsers: BrowserSessions,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async show({ person, sessionUid, account, notice }: SignedInRequest): Promise<PageResult> {
    const view = { browsers: await this.browsers.list(person.id), currentUid: sessionUid };
    return browsersPage(account, view, notice);
  }

  /** Signs out the browser that the form names, or all others. The page has no form for the current one. */
  async signOut({ person, sessionUid, origin, field }: SignedInRequest): Promise<PageResult> {
    const session = field('session'); // the uid of a session, or `others`
    const entry = { event: 'browser_signed_out', userId: person.id, details: { session } } as const;
    let wasFound = false;
    await this.unitOfWork.runRevocation(async (tx) => {
      const revoked =
        session === 'others'
          ? await endSessionsOfUser(tx, person.id, sessionUid)
          : await endSessionOfUser(tx, person.id, session);
      wasFound = revoked !== undefined; // undefined: the person has no such session
      if (wasFound) await insertAudit(tx, entry, origin);
      return revoked ?? [];
    });
    if (!wasFound) return { redirect: '/account/browsers' };
    const done = session === 'others' ? 'signed-out-others' : 'signed-out';
    return { redirect: `/account/browsers?done=${done}` };
  }
}
