import { Injectable } from '@nestjs/common';
import { accountClientId } from '../registration/account-client.js';
import { OidcServer } from '../oidc/oidc-server.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { isStorableText } from '../http/storable-text.js';
import { Families } from '../tokens/families.js';
import { accountPageOf } from './signed-in.pipe.js';

/**
 * Redirect URI of the account pages: redirects a person who just signed in to the page they requested, and a
 * person whose sign-in failed or was cancelled to `/account/signed-out`.
 */
@Injectable()
export class CompleteAccountSignIn {
  constructor(
    private readonly oidc: OidcServer,
    private readonly families: Families,
  ) {}

  async run({ code, state, error }: Readonly<Record<string, unknown>>): Promise<PageResult> {
    if (typeof code === 'string' && isStorableText(code)) await this.endFamilyOf(code);
    return { redirect: error === undefined ? accountPageOf(state) : '/account/signed-out' };
  }

  /** Ends the code's token family: the account pages use the session, not tokens. */
  private async endFamilyOf(code: string): Promise<void> {
    const stored = await this.oidc.provider.AuthorizationCode.find(code);
    if (stored?.clientId === accountClientId && stored.grantId !== undefined)
      await this.families.end(stored.grantId);
  }
}
