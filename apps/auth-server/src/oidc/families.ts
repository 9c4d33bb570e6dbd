import { statement, type Transaction } from '@fulfilment/database';
import type { RevokedToken } from '../revocation/deny-list.js';
import type { UnitOfWork } from './unit-of-work.js';

// The Grant row goes first: it waits for tokens that are just being added to the family, and refuses later ones.
const deleteGrant = statement('families.grant', `DELETE FROM oidc_model WHERE model = 'Grant' AND id = $1`);
const deleteMembers = statement(
  'families.members',
  `WITH gone AS (DELETE FROM oidc_model WHERE grant_id = $1 RETURNING model, id, expires_at)
   INSERT INTO revoked_tokens (jti, expires_at)
   SELECT id, expires_at FROM gone WHERE model = 'AccessToken' AND expires_at > now()
   ON CONFLICT (jti) DO NOTHING RETURNING jti, expires_at`,
);
const deleteAccessToken = statement(
  'families.access-token',
  `WITH gone AS (DELETE FROM oidc_model WHERE model = 'AccessToken' AND id = $1 RETURNING id, expires_at)
   INSERT INTO revoked_tokens (jti, expires_at) SELECT id, expires_at FROM gone WHERE expires_at > now()
   ON CONFLICT (jti) DO NOTHING RETURNING jti, expires_at`,
);
const grantsOfClient = statement(
  'families.of-client',
  `SELECT id FROM oidc_model WHERE model = 'Grant' AND client_id = $1 ORDER BY id`,
);
const grantsOfSession = statement(
  'families.of-session',
  `SELECT DISTINCT grants.id FROM oidc_model AS member
   JOIN oidc_model AS grants ON grants.model = 'Grant' AND grants.id = member.grant_id
   WHERE member.session_uid = $1
     AND NOT 'offline_access' = ANY (string_to_array(grants.payload #>> '{openid,scope}', ' '))
   ORDER BY grants.id`,
);
const grantsOfUserAndClient = statement(
  'families.of-user-and-client',
  `SELECT id FROM oidc_model WHERE model = 'Grant' AND account_id = $1 AND client_id = $2 ORDER BY id`,
);
const deleteClient = statement(
  'families.client',
  `DELETE FROM oidc_model WHERE (model = 'Client' AND id = $1) OR (model = 'RegistrationAccessToken' AND client_id = $1)`,
);
const grantsOfUser = statement(
  'families.of-user',
  `SELECT id FROM oidc_model WHERE model = 'Grant' AND account_id = $1 ORDER BY id`,
);
const accessTokensOfUser = statement(
  'families.access-tokens-of-user',
  `SELECT member.id FROM oidc_model AS grants
   JOIN oidc_model AS member ON member.grant_id = grants.id AND member.model = 'AccessToken'
   WHERE grants.model = 'Grant' AND grants.account_id = $1 AND member.expires_at > now() ORDER BY member.id`,
);
const deleteConsents = statement('families.consents', 'DELETE FROM consents WHERE client_id = $1');

/** A family is what one authorization led to: its Grant, code, refresh tokens and access tokens. They end together. */
export class Families {
  constructor(private readonly work: UnitOfWork) {}

  /** RFC 9700 §4.14.2: after a reuse or a revocation nothing of the family is good any more. */
  end(grantId: string): Promise<void> {
    return this.work.revoking((tx) => endFamily(tx, grantId));
  }

  endAccessToken(jti: string): Promise<void> {
    return this.work.revoking((tx) => tx.rows<RevokedToken>(deleteAccessToken, [jti]));
  }

  /** What lives only as long as the browser's session; tokens of `offline_access` live on. */
  endOfSession(sessionUid: string): Promise<void> {
    return this.work.revoking((tx) => endFamiliesOfSession(tx, sessionUid));
  }

  /** RFC 7592 §2.3: a client that is gone leaves nothing behind. */
  endOfClient(clientId: string): Promise<void> {
    return this.work.revoking((tx) => endClient(tx, clientId));
  }
}

/** Deletes a client and what it was given. Answers the access tokens to tell the APIs of after the commit. */
export async function endClient(tx: Transaction, clientId: string): Promise<RevokedToken[]> {
  const revoked = await endAll(tx, grantsOfClient, clientId);
  await tx.run(deleteClient, [clientId]);
  await tx.run(deleteConsents, [clientId]);
  return revoked;
}

/** Ends the families that live only as long as a browser's session. Answers the access tokens to tell the APIs of. */
export function endFamiliesOfSession(tx: Transaction, sessionUid: string): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfSession, sessionUid);
}

/** Ends all a person's families, `offline_access` too. */
export function endFamiliesOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfUser, userId);
}

/** A person takes an app's access away. */
export function endFamiliesOfUserAndClient(
  tx: Transaction,
  userId: string,
  clientId: string,
): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfUserAndClient, userId, clientId);
}

/** Ends the access tokens only: what an app refreshes says what the person may do now. */
export async function endAccessTokensOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  const revoked: RevokedToken[] = [];
  for (const { id } of await tx.rows<{ id: string }>(accessTokensOfUser, [userId]))
    revoked.push(...(await tx.rows<RevokedToken>(deleteAccessToken, [id])));
  return revoked;
}

async function endAll(
  tx: Transaction,
  grants: typeof grantsOfClient,
  ...owner: readonly string[]
): Promise<RevokedToken[]> {
  const revoked: RevokedToken[] = [];
  for (const { id } of await tx.rows<{ id: string }>(grants, owner))
    revoked.push(...(await endFamily(tx, id)));
  return revoked;
}

async function endFamily(tx: Transaction, grantId: string): Promise<RevokedToken[]> {
  await tx.run(deleteGrant, [grantId]);
  return tx.rows<RevokedToken>(deleteMembers, [grantId]);
}
