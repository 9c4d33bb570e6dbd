import { Injectable } from '@nestjs/common';
import {
  type Client,
  errors,
  type Grant,
  type KoaContextWithOIDC,
  type default as Provider,
} from 'oidc-provider';
import { ReadAccounts } from '../../users/read-accounts.js';
import { Consents } from '../../connected-apps/consents.js';
import { coveringConsent } from '../../connected-apps/covering-consent.rules.js';
import { parseCreatorId } from '../../creators/parse-creator-id.js';

/**
 * Makes oidc-provider store the connected creator and the role version in a Grant. Call before the first
 * Grant is created.
 */
export function extendGrantPayload(provider: Provider): void {
  const fields = [...provider.Grant.IN_PAYLOAD, 'creatorId', 'roleVersion'];
  Object.defineProperty(provider.Grant, 'IN_PAYLOAD', { get: () => fields });
}

export interface Authorization {
  readonly accountId: string;
  readonly clientId: string;
  readonly creatorId: string | undefined;
  readonly scopes: Iterable<string>;
}

/** Creates the Grant of a new token family, so that authorizations end independently of each other. */
async function startGrant(provider: Provider, authorization: Authorization): Promise<Grant> {
  const { accountId, clientId, creatorId } = authorization;
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope([...authorization.scopes]);
  if (creatorId !== undefined) grant.creatorId = creatorId;
  await grant.save();
  return grant;
}

/**
 * Creates a Grant that depends on a stored consent. A concurrent disconnection of the app may miss the new
 * Grant, so the consent is checked after the Grant is saved. Returns undefined when the consent was deleted.
 */
export async function startConsentedGrant(
  provider: Provider,
  consents: Consents,
  authorization: Authorization,
): Promise<Grant | undefined> {
  const grant = await startGrant(provider, authorization);
  if (await consents.isGiven(authorization.accountId, authorization.clientId, authorization.creatorId))
    return grant;
  await grant.destroy();
  return undefined;
}

/**
 * Finds or creates the Grant of an authorization request that needs no consent page (oidc-provider's
 * `loadExistingGrant`).
 */
@Injectable()
export class GrantLoader {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly consents: Consents,
  ) {}

  async load(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { client, account, provider, result } = ctx.oidc;
    if (client === undefined || account === undefined) return undefined;
    if (result?.consent?.grantId !== undefined) return provider.Grant.find(result.consent.grantId);
    if (ctx.oidc.promptPending('login') || ctx.oidc.promptPending('consent')) return undefined;
    const scopes = [...ctx.oidc.requestParamOIDCScopes];
    const { accountId } = account;
    const { clientId } = client;
    if (isFirstParty(client)) {
      const creatorId = await this.namedOrFirstCreator(accountId, ctx.oidc.params?.creator);
      return startGrant(provider, { accountId, clientId, creatorId, scopes });
    }
    if (client.applicationType === 'native') return undefined; // consent page each time (RFC 8252 §8.6)
    const consent = coveringConsent(await this.consents.list(accountId, clientId), scopes);
    if (consent === undefined) return undefined;
    const creatorId = consent.creator_id ?? undefined;
    return startConsentedGrant(provider, this.consents, { accountId, clientId, creatorId, scopes });
  }

  /** First-party clients may name the creator; the default is the first of `ReadAccounts.creators`. */
  private async namedOrFirstCreator(userId: string, named: unknown): Promise<string | undefined> {
    if (typeof named !== 'string') return (await this.accounts.creators(userId))[0]?.id;
    const creatorId = parseCreatorId(named);
    if (creatorId === undefined || !(await this.accounts.mayActFor(userId, creatorId)))
      throw new errors.InvalidRequest('the user may not act for this creator');
    return creatorId;
  }
}

export function isFirstParty(client: Client | undefined): boolean {
  return client?.first_party === true;
}
