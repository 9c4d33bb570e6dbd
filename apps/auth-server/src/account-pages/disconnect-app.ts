import { Outbox } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { insertAudit, originOf } from '../audit/audit-log.js';
import { forgetConsents } from '../connected-apps/consents.js';
import { tellingDisconnections } from '../connected-apps/tell-disconnections.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { endFamiliesOfUserAndClient } from '../tokens/families.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { OpenAccount } from './open-account.js';

/** Takes an app's access to the account away: every token it holds for this person ends, and its next request is asked for consent. */
@Injectable()
export class DisconnectApp {
  constructor(
    private readonly account: OpenAccount,
    private readonly work: UnitOfWork,
    private readonly outbox: Outbox,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const { person } = await this.account.toChange(request, response);
    const clientId = field(request, 'client_id');
    const entry = { event: 'app_disconnected', userId: person.id, clientId } as const;
    await this.work.revoking((tx) =>
      tellingDisconnections(tx, this.outbox, { userId: person.id, clientId }, async () => {
        await tx.run(forgetConsents, [person.id, clientId]);
        await insertAudit(tx, entry, originOf(request));
        return endFamiliesOfUserAndClient(tx, person.id, clientId);
      }),
    );
    return { redirect: '/account/apps?done=disconnected' };
  }
}
