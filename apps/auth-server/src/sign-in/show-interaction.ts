import { identityScopes, storeScopes } from '@fulfilment/contracts';
import { Injectable } from '@nestjs/common';
import { ReadAccounts } from '../users/read-accounts.js';
import { consentPage } from '../pages/sign-in/consent.page.js';
import { InteractionExpired } from '../pages/page-errors.js';
import type { Page } from '../pages/page.js';
import { signInPage } from '../pages/sign-in/sign-in.page.js';
import { loopbackHosts } from '../registration/client-registration.rules.js';
import { SecondFactorPrompt } from './second-factor-prompt.js';
import type { OpenInteraction } from './interaction.pipe.js';

/**
 * A webhook subscription sends data without a further request, so the page lists the data
 * (docs/decisions.md).
 */
const webhookData = 'your orders with tracking numbers, and stock changes of your products';
const scopeTexts: Readonly<Record<string, string>> = {
  ...identityScopes,
  ...storeScopes,
  'webhooks:create': `Subscribe to events: the app receives ${webhookData} until you disconnect it`,
  'webhooks:update': `Change its event subscriptions and their URLs: ${webhookData}`,
  'webhooks:read': `Read its event subscriptions and all sent events: ${webhookData}`,
};

/** Shows the page of the interaction's current step: sign-in, second factor or consent. */
@Injectable()
export class ShowInteraction {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly secondFactorPrompt: SecondFactorPrompt,
  ) {}

  async run(interaction: OpenInteraction): Promise<Page> {
    if (interaction.prompt !== 'login') return this.showConsent(interaction);
    const userId = await this.secondFactorPrompt.userIdWithVerifiedPassword(interaction);
    return userId === undefined
      ? signInPage({ ...interaction.context, email: interaction.loginHint })
      : this.secondFactorPrompt.show(interaction, userId);
  }

  private async showConsent(interaction: OpenInteraction): Promise<Page> {
    const { client, accountId, scopes, redirectUri } = interaction;
    if (accountId === undefined) throw new InteractionExpired();
    const [person, creators] = await Promise.all([
      this.accounts.person(accountId),
      this.accounts.creators(accountId),
    ]);
    if (person === undefined) throw new InteractionExpired();
    return consentPage({
      ...interaction.context,
      creators,
      verified: client.verified === true,
      email: person.email,
      destination: destinationOf(redirectUri),
      permissions: scopes.flatMap((scope) => scopeTexts[scope] ?? []),
    });
  }
}

/** Describes where the person is sent. */
function destinationOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  return loopbackHosts.has(hostname)
    ? 'a program on this computer'
    : `an app on this device (${protocol.slice(0, -1)})`;
}
