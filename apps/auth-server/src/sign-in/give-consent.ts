import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ReadAccounts } from '../accounts/read-accounts.js';
import { AuditLog, originOf } from '../audit/audit-log.js';
import { Consents } from '../connected-apps/consents.js';
import { startConsentedGrant } from '../oidc/grants.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { FormTokens } from '../pages/form-tokens.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { InteractionExpired } from '../pages/page-errors.js';
import { openInteraction } from './open-interaction.js';

/** Says yes: starts the authorization for the creator that was picked, and remembers the answer. */
@Injectable()
export class GiveConsent {
  constructor(
    private readonly oidc: OidcServer,
    private readonly accounts: ReadAccounts,
    private readonly consents: Consents,
    private readonly forms: FormTokens,
    private readonly audit: AuditLog,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const interaction = await openInteraction(this.oidc, request, response);
    this.forms.verify(interaction.uid, field(request, 'csrf'), request);
    const { accountId, scopes, client } = interaction;
    if (interaction.prompt !== 'consent') return { redirect: `/interaction/${interaction.uid}` };
    if (accountId === undefined) throw new InteractionExpired();
    const { clientId } = client;

    const creators = await this.accounts.creators(accountId);
    const creatorId = creators.find(({ id }) => id === field(request, 'creator'))?.id;
    // Somebody with creators acts for one of them; the page lets nobody leave it out.
    if (creatorId === undefined && creators.length > 0)
      return { redirect: `/interaction/${interaction.uid}` };

    await this.consents.remember(accountId, clientId, creatorId, scopes);
    const authorization = { accountId, clientId, creatorId, scopes };
    const grant = await startConsentedGrant(this.oidc.provider, this.consents, authorization);
    if (grant === undefined) return { redirect: `/interaction/${interaction.uid}` }; // taken back on another page
    await this.audit.write(originOf(request), {
      event: 'consent_given',
      userId: accountId,
      clientId,
      details: { creator_id: creatorId, scopes },
    });
    return { redirect: await interaction.finish({ consent: { grantId: grant.jti } }) };
  }
}
