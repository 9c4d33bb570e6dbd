import { Outbox } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { insertAudit } from '../audit/audit-log.js';
import { deleteConsentsOfUserAndClient } from '../connected-apps/consents.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import { ReadConnectedApps } from '../connected-apps/read-connected-apps.js';
import { connectedAppsPage } from '../pages/account/connected-apps.page.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { endFamiliesOfUserAndClient } from '../tokens/families.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/** Shows which apps can use the account, and disconnects one. */
@Injectable()
export class ManageConnectedApps {
  constructor(
    private readonly apps: ReadConnectedApps,
    private readonly unitOfWork: UnitOfWork,
    private readonly outbox: Outbox,
  ) {}

  async show({ person, account, notice }: SignedInRequest): Promise<PageResult> {
    return connectedAppsPage(account, await this.apps.list(person.id), notice);
  }

  /** Deletes the app's consents and ends all its tokens for this person. */
  async disconnect({ person, origin, field }: SignedInRequest): Promise<PageResult> {
    const clientId = field('client_id');
    const entry = { event: 'app_disconnected', userId: person.id, clientId } as const;
    await this.unitOfWork.runRevocation((tx) =>
      disconnectAndPublish(tx, this.outbox, { userId: person.id, clientId }, async () => {
        const consentCount = await tx.run(deleteConsentsOfUserAndClient, [person.id, clientId]);
        const { familyCount, revoked } = await endFamiliesOfUserAndClient(tx, person.id, clientId);
        // The form may name any client: only the end of a connection is audited.
        if (consentCount + familyCount > 0) await insertAudit(tx, entry, origin);
        return revoked;
      }),
    );
    return { redirect: '/account/apps?done=disconnected' };
  }
}
