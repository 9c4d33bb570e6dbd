import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { insertAudit, originOf } from '../audit/audit-log.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { endSessionOfUser, endSessionsOfUser } from '../sessions/end-sessions.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { OpenAccount } from './open-account.js';

/** Signs out one other browser of the person, or all others. */
@Injectable()
export class SignOutBrowser {
  constructor(
    private readonly account: OpenAccount,
    private readonly work: UnitOfWork,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const { person, sessionUid } = await this.account.requireSignedInWithCsrfToken(request, response);
    const which = field(request, 'session');
    const entry = { event: 'browser_signed_out', userId: person.id, details: { session: which } } as const;
    let found = true;
    await this.work.runRevocation(async (tx) => {
      const revoked =
        which === 'others'
          ? await endSessionsOfUser(tx, person.id, sessionUid)
          : await endSessionOfUser(tx, person.id, which);
      found = revoked !== undefined;
      if (found) await insertAudit(tx, entry, originOf(request));
      return revoked ?? [];
    });
    if (!found) return { redirect: '/account/browsers' };
    return { redirect: '/account/browsers?done=signed-out' };
  }
}
