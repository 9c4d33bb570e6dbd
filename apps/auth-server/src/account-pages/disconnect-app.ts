import { Outbox } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { insertAudit, originOf } from '../audit/audit-log.js';
import { deleteConsentsForClient } from '../connected-apps/consents.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { endFamiliesOfUserAndClient } from '../tokens/families.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { OpenAccount } from './open-account.js';

/**
 * Disconnects an app: ends all its tokens for this person, and its next authorization needs a new consent.
 */
@Injectable()
export class DisconnectApp {
  constructor(
    private readonly account: OpenAccount,
    private readonly work: UnitOfWork,
    private readonly outbox: Outbox,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const { person } = await this.account.requireSignedInWithCsrfToken(request, response);
    const clientId = field(request, 'client_id');
    const entry = { event: 'app_disconnected', userId: person.id, clientId } as const;
    await this.work.runRevocation((tx) =>
      disconnectAndPublish(tx, this.outbox, { userId: person.id, clientId }, async () => {
        await tx.run(deleteConsentsForClient, [person.id, clientId]);
        await insertAudit(tx, entry, originOf(request));
        return endFamiliesOfUserAndClient(tx, person.id, clientId);
      }),
    );
    return { redirect: '/account/apps?done=disconnected' };
  }
}
