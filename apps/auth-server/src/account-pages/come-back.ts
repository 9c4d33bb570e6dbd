import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accountClientId } from '../oidc/account-client.js';
import { OidcServer } from '../oidc/oidc-server.js';
import type { Outcome } from '../pages/outcome.js';
import { isReadable } from '../requests/unreadable-text.js';
import { Families } from '../tokens/families.js';
import { pageOf } from './open-account.js';

/** Brings somebody who signed in back to the page they wanted. */
@Injectable()
export class ComeBack {
  constructor(
    private readonly oidc: OidcServer,
    private readonly families: Families,
  ) {}

  async run({ query }: Pick<Request, 'query'>): Promise<Outcome> {
    const { code, state } = query;
    if (typeof code === 'string' && isReadable(code)) await this.throwAway(code);
    return { redirect: query['error'] === undefined ? pageOf(state) : '/account/signed-out' };
  }

  /** The session is what signs in here; the code's family ends before it began. */
  private async throwAway(code: string): Promise<void> {
    const stored = await this.oidc.provider.AuthorizationCode.find(code);
    if (stored?.clientId === accountClientId && stored.grantId !== undefined)
      await this.families.end(stored.grantId);
  }
}
