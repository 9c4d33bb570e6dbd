import type { Caller } from '@fulfilment/http-service';

/** A member of the organisation Harbour. */
export const aMember: Caller = {
  subject: 'someone',
  clientId: 'test',
  creatorId: undefined,
  organisationId: 'org_harbour',
  organisationRole: 'member',
  scopes: new Set(),
  audiences: [],
  tokenId: 'test',
  tokenIssuedAt: new Date(),
  tokenExpiresAt: new Date(Date.now() + 600_000),
};

export const globalAdmin: Caller = {
  ...aMember,
  organisationId: undefined,
  organisationRole: 'global_admin',
};
