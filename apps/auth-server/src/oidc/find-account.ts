import { errors, type FindAccount, type KoaContextWithOIDC } from 'oidc-provider';
import type { ReadAccounts } from '../users/read-accounts.js';
import type { StoredRows } from '../tokens/stored-rows.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import { type OrganisationClaims, organisationClaims } from './access-tokens/access-token.rules.js';

/** Claims of each scope at UserInfo. */
export const claimsOfScopes = {
  openid: ['sub', 'org_id', 'org_role', 'creator_id'],
  profile: ['name'],
  email: ['email', 'email_verified'],
} as const;

/** Finds the person of a session or token; undefined for an unknown or disabled one. */
export function findAccount(accounts: ReadAccounts, stored: StoredRows, unitOfWork: UnitOfWork): FindAccount {
  return async (ctx, userId, token) => {
    const creatorId = ctx.oidc.entities.Grant?.creatorId;
    const person =
      stored.takePerson(ctx.req, userId) ??
      (await accounts.person(userId, creatorId, await unitOfWork.currentTransaction()));
    if (person === undefined) return undefined;
    return {
      accountId: person.id,
      person,
      claims: () => ({
        sub: person.id,
        email: person.email,
        email_verified: person.email_verified,
        ...(person.name === null ? {} : { name: person.name }),
        // UserInfo returns the organisation claims of the access token; an ID token contains the current
        // ones.
        ...(token?.kind === 'AccessToken' ? token.extra : organisationClaims(person, creatorId)),
      }),
    };
  };
}

/** Returns the current private claims for a new access token. @throws InvalidGrant */
export function currentOrganisationClaims(
  ctx: KoaContextWithOIDC,
): OrganisationClaims & Record<string, unknown> {
  const { account, entities } = ctx.oidc;
  const claims = account?.person && organisationClaims(account.person, entities.Grant?.creatorId);
  if (claims === undefined)
    throw new errors.InvalidGrant({ detail: 'the user may no longer act for the creator' });
  return { ...claims };
}
