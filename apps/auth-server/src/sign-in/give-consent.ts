import { Injectable } from '@nestjs/common';
import { ReadAccounts } from '../users/read-accounts.js';
import { AuditLog } from '../audit/audit-log.js';
import { Consents } from '../connected-apps/consents.js';
import { startConsentedGrant } from '../oidc/authorization/grants.js';
import { OidcServer } from '../oidc/oidc-server.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { InteractionExpired } from '../pages/page-errors.js';
import type { OpenInteraction } from './interaction.pipe.js';

/** Stores the consent and starts the authorization for the selected creator. */
@Injectable()
export class GiveConsent {
  constructor(
    private readonly oidc: OidcServer,
    private readonly accounts: ReadAccounts,
    private readonly consents: Consents,
    private readonly audit: AuditLog,
  ) {}

  async run(interaction: OpenInteraction): Promise<PageResult> {
    const { accountId, scopes, client, appIdentity, currentStepRedirect } = interaction;
    if (interaction.prompt !== 'consent') return currentStepRedirect;
    if (accountId === undefined) throw new InteractionExpired();
    const { clientId } = client;

    const creators = await this.accounts.creators(accountId);
    const creatorId = creators.find(({ id }) => id === interaction.field('creator'))?.id;
    // A person with creators must select one. The form of the page always contains one.
    if (creatorId === undefined && creators.length > 0) return currentStepRedirect;

    const consent = { userId: accountId, clientId, appIdentity, creatorId, scopes };
    if (!(await this.consents.save(consent))) return currentStepRedirect;
    const authorization = { accountId, clientId, creatorId, scopes };
    const grant = await startConsentedGrant(this.oidc.provider, this.consents, authorization);
    // The app was disconnected during the request.
    if (grant === undefined) return currentStepRedirect;
    await this.audit.write(
      {
        event: 'consent_given',
        userId: accountId,
        clientId,
        details: { creator_id: creatorId, scopes, app_name: client.clientName },
      },
      interaction.origin,
    );
    return { redirect: await interaction.finish({ consent: { grantId: grant.jti } }) };
  }
}
