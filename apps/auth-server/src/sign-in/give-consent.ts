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
import { type OpenInteraction, openInteraction } from './open-interaction.js';

/** Name of the consent form: it is valid for the client as it was shown. */
export function consentForm({ uid, appIdentity }: OpenInteraction): string {
  return `${uid}:${appIdentity}`;
}

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
    if (interaction.prompt !== 'consent') return { redirect: `/interaction/${interaction.uid}` };
    const { accountId, scopes, client, appIdentity: shown } = interaction;
    this.forms.verify(consentForm(interaction), field(request, 'csrf'), request);
    if (accountId === undefined) throw new InteractionExpired();
    const { clientId } = client;

    const creators = await this.accounts.creators(accountId);
    const creatorId = creators.find(({ id }) => id === field(request, 'creator'))?.id;
    // Somebody with creators acts for one of them; the page lets nobody leave it out.
    if (creatorId === undefined && creators.length > 0)
      return { redirect: `/interaction/${interaction.uid}` };

    await this.consents.remember({ userId: accountId, clientId, shown, creatorId, scopes });
    const authorization = { accountId, clientId, creatorId, scopes };
    const grant = await startConsentedGrant(this.oidc.provider, this.consents, authorization);
    if (grant === undefined) return { redirect: `/interaction/${interaction.uid}` }; // disconnected or changed during the request
    await this.audit.write(originOf(request), {
      event: 'consent_given',
      userId: accountId,
      clientId,
      details: { creator_id: creatorId, scopes, app_name: client.clientName },
    });
    return { redirect: await interaction.finish({ consent: { grantId: grant.jti } }) };
  }
}
