import type { Caller } from '@fulfilment/http-service';

/** What a caller sees: an organisation's creators and all that is theirs, or everything. */
export interface Sight {
  readonly role: 'creator_api_member' | 'creator_api_operator';
  /** Empty: nothing. */
  readonly organisationId: string;
}

const memberRoles = new Set(['owner', 'admin', 'member']);

/** `global_admin` sees all; the roles of an organisation see what is its own; any other role, or none, sees nothing. */
export function sightOf({
  organisationId,
  organisationRole,
}: Pick<Caller, 'organisationId' | 'organisationRole'>): Sight {
  if (organisationRole === 'global_admin') return { role: 'creator_api_operator', organisationId: '' };
  const isMember = organisationRole !== undefined && memberRoles.has(organisationRole);
  return { role: 'creator_api_member', organisationId: isMember ? (organisationId ?? '') : '' };
}
