import type { Caller } from '@fulfilment/http-service';

/** The rows that a caller may see: the rows of one organisation's creators, or all. */
interface CallerScope {
  readonly role: 'creator_api_member' | 'creator_api_operator';
  /** Empty for an operator, who sees the rows of all, and for a member who sees none. */
  readonly organisationId: string;
}

const memberRoles = new Set(['owner', 'admin', 'member']);

/**
 * `global_admin` sees all rows; a role of an organisation sees its rows; any other role, or none, sees
 * nothing.
 */
export function callerScope({
  organisationId,
  organisationRole,
}: Pick<Caller, 'organisationId' | 'organisationRole'>): CallerScope {
  if (organisationRole === 'global_admin') return { role: 'creator_api_operator', organisationId: '' };
  const isMember = organisationRole !== undefined && memberRoles.has(organisationRole);
  return { role: 'creator_api_member', organisationId: isMember ? (organisationId ?? '') : '' };
}
