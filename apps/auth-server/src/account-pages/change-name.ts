import { Database, statement } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { displayName } from '../accounts/display-name.js';
import { insertAudit } from '../audit/audit-log.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import type { SignedInRequest } from './signed-in.pipe.js';
import { ShowOverview } from './show-overview.js';

// The account may have been disabled or redacted during the request.
const setName = statement(
  'users.set-name',
  'UPDATE users SET name = $2 WHERE id = $1 AND name IS DISTINCT FROM $2 AND disabled_at IS NULL',
);

/** Changes the person's own name, which apps with the scope `profile` can read. An empty name removes it. */
@Injectable()
export class ChangeName {
  constructor(
    private readonly showOverview: ShowOverview,
    private readonly database: Database,
  ) {}

  async run(signedIn: SignedInRequest): Promise<PageResult> {
    const { person, origin, optionalField } = signedIn;
    const typed = optionalField('name');
    const parsed = displayName.safeParse(typed);
    const isRemoved = typed?.trim() === '';
    if (!parsed.success && !isRemoved) {
      const [issue] = parsed.error.issues;
      const text = `The name ${issue?.message ?? 'is not valid'}.`;
      return this.showOverview.run(signedIn, { status: 400, text });
    }
    await this.database.transaction(async (tx) => {
      if ((await tx.run(setName, [person.id, parsed.data ?? null])) === 0) return;
      await insertAudit(tx, { event: 'name_changed', userId: person.id }, origin);
    });
    return { redirect: '/account?done=name' };
  }
}
