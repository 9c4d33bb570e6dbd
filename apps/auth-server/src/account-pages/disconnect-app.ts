import { Outbox } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { insertAudit } from '../audit/audit-log.js';
import { deleteConsentsOfUserAndClient } from '../connected-apps/consents.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { endFamiliesOfUserAndClient } from '../tokens/families.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import type { SignedInRequest } from './signed-in.pipe.js';

/**
 * Disconnects an app: ends all its tokens for this person, and its next authorization needs a new consent.
 */
@Injectable()
export class DisconnectApp {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly outbox: Outbox,
  ) {}

  async run({ person, origin, field }: SignedInRequest): Promise<PageResult> {
    const clientId = field('client_id');
    const entry = { event: 'app_disconnected', userId: person.id, clientId } as const;
    await this.unitOfWork.runRevocation((tx) =>
      disconnectAndPublish(tx, this.outbox, { userId: person.id, clientId }, async () => {
        await tx.run(deleteConsentsOfUserAndClient, [person.id, clientId]);
        await insertAudit(tx, entry, origin);
        return endFamiliesOfUserAndClient(tx, person.id, clientId);
      }),
    );
    return { redirect: '/account/apps?done=disconnected' };
  }
}
