import { isUuid, parsePublicId } from '@fulfilment/contracts';
import {
  type Client,
  errors,
  type Grant,
  type KoaContextWithOIDC,
  type default as Provider,
} from 'oidc-provider';
import type { ReadAccounts } from '../accounts/read-accounts.js';
import type { Consents } from '../connected-apps/consents.js';
import { coveringConsent } from './connected-creator.rules.js';

/** A Grant remembers the creator it is connected to. Call before any Grant is made. */
export function connectGrantsToCreators(provider: Provider): void {
  const fields = [...provider.Grant.IN_PAYLOAD, 'creatorId'];
  Object.defineProperty(provider.Grant, 'IN_PAYLOAD', { get: () => fields });
}

export function creatorOf(grant: Grant | undefined): string | undefined {
  const creatorId: unknown = grant === undefined ? undefined : Reflect.get(grant, 'creatorId');
  return typeof creatorId === 'string' ? creatorId : undefined;
}

/** A new authorization: the head of a family of tokens of its own, so that the end of one never ends another's. */
export async function startGrant(
  provider: Provider,
  authorization: {
    readonly accountId: string;
    readonly clientId: string;
    readonly creatorId: string | undefined;
    readonly scopes: Iterable<string>;
  },
): Promise<Grant> {
  const { accountId, clientId, creatorId } = authorization;
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope([...authorization.scopes]);
  if (creatorId !== undefined) Reflect.set(grant, 'creatorId', creatorId);
  await grant.save();
  return grant;
}

/** Decides which Grant an authorization request gets without a question, if any. */
export class ExistingGrants {
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
      const creatorId = await this.namedOrOldest(accountId, ctx.oidc.params?.creator);
      return startGrant(provider, { accountId, clientId, creatorId, scopes });
    }
    if (client.applicationType === 'native') return undefined; // asked each time (RFC 8252 §8.6)
    const consent = coveringConsent(await this.consents.of(accountId, clientId), scopes);
    if (consent === undefined) return undefined;
    return startGrant(provider, { accountId, clientId, creatorId: consent.creator_id ?? undefined, scopes });
  }

  /** First-party clients may name the creator; else it is the organisation's oldest. */
  private async namedOrOldest(userId: string, named: unknown): Promise<string | undefined> {
    if (typeof named !== 'string') return (await this.accounts.creators(userId))[0]?.id;
    const creatorId = isUuid(named) ? named : parsePublicId('crt', named);
    if (creatorId === undefined || !(await this.accounts.seesCreator(userId, creatorId)))
      throw new errors.InvalidRequest('creator is not one this user acts for');
    return creatorId;
  }
}

export function isFirstParty(client: Client | undefined): boolean {
  return client?.first_party === true;
}
