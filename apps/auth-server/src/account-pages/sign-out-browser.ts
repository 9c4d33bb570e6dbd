import { Injectable } from '@nestjs/common';
import { insertAudit } from '../audit/audit-log.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { endSessionOfUser, endSessionsOfUser } from '../sessions/end-sessions.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Signs out the browser that the form names, or all others. The page has no form for the current one. */
@Injectable()
export class SignOutBrowser {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async run({ person, sessionUid, origin, field }: SignedInRequest): Promise<PageResult> {
    const session = field('session'); // the uid of a session, or `others`
    const entry = { event: 'browser_signed_out', userId: person.id, details: { session } } as const;
    let found = true;
    await this.unitOfWork.runRevocation(async (tx) => {
      const revoked =
        session === 'others'
          ? await endSessionsOfUser(tx, person.id, sessionUid)
          : await endSessionOfUser(tx, person.id, session);
      found = revoked !== undefined;
      if (found) await insertAudit(tx, entry, origin);
      return revoked ?? [];
    });
    if (!found) return { redirect: '/account/browsers' };
    const done = session === 'others' ? 'signed-out-others' : 'signed-out';
    return { redirect: `/account/browsers?done=${done}` };
  }
}
