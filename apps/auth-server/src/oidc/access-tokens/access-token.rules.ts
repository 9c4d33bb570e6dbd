import { audiences } from '@fulfilment/contracts';

/** What the private claims of a person's tokens depend on. */
interface TokenSubject {
  readonly global_admin: boolean;
  readonly organisation_id: string | null;
  readonly role: string | null;
}

/** Private claims of the suite; those without a value are omitted. */
export interface OrganisationClaims {
  readonly org_id?: string;
  readonly org_role?: string;
  readonly creator_id?: string;
}

/**
 * Returns the claims about organisation, role and creator for a new token; undefined when the person may no
 * longer act for the creator of the authorization, so that no token is issued.
 */
export function organisationClaims(
  subject: TokenSubject,
  creatorId: string | undefined,
): OrganisationClaims | undefined {
  const creator = creatorId === undefined ? {} : { creator_id: creatorId };
  if (subject.global_admin) return { org_role: 'global_admin', ...creator };
  if (subject.organisation_id === null || subject.role === null) {
    return creatorId === undefined ? {} : undefined;
  }
  return { org_id: subject.organisation_id, org_role: subject.role, ...creator };
}

/** Third-party tokens are for the Store API, first-party tokens for both. */
export function audienceOf(baseUrl: string, firstParty: boolean): string[] {
  const { store, creator } = audiences(baseUrl);
  return firstParty ? [store, creator] : [store];
}
