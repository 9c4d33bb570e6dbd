import { Database, statement } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { displayName } from '../accounts/display-name.js';
import { insertAudit, originOf } from '../audit/audit-log.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { OpenAccount } from './open-account.js';
import { ShowOverview } from './show-overview.js';

const setName = statement(
  'users.set-name',
  'UPDATE users SET name = $2 WHERE id = $1 AND name IS DISTINCT FROM $2',
);

/** Changes the person's own name, which apps with the scope `profile` can read. An empty name removes it. */
@Injectable()
export class ChangeName {
  constructor(
    private readonly account: OpenAccount,
    private readonly showOverview: ShowOverview,
    private readonly database: Database,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const signedIn = await this.account.requireSignedInWithCsrfToken(request, response);
    const typed = field(request, 'name');
    const name = displayName.safeParse(typed);
    const isRemoved = typed.trim() === '';
    if (!name.success && !isRemoved) {
      const [issue] = name.error.issues;
      const text = `The name ${issue?.message ?? 'is not valid'}.`;
      return this.showOverview.page(signedIn, { kind: 'problem', status: 400, text });
    }
    await this.database.transaction(async (tx) => {
      if ((await tx.run(setName, [signedIn.person.id, name.data ?? null])) === 0) return;
      await insertAudit(tx, { event: 'name_changed', userId: signedIn.person.id }, originOf(request));
    });
    return { redirect: '/account?done=name' };
  }
}
