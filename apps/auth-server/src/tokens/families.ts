import { Injectable } from '@nestjs/common';
import { messages } from '@fulfilment/contracts';
import { type Statement, statement, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { type RevokedToken, clockSkewSeconds } from '../revocation/deny-list.js';
import { publishCreators } from '../creator-snapshots/publish-creators.js';
import { UnitOfWork } from './unit-of-work/unit-of-work.js';

// The end of a family locks its Grant first: it waits for tokens that are being added, and prevents later
// ones. Grants are locked in the order of their ids, so that concurrent ends cannot deadlock.
const lockGrantsWhere = (name: string, condition: string) =>
  statement(name, `SELECT id FROM oidc_model WHERE model = 'Grant' AND ${condition} ORDER BY id FOR UPDATE`);
const lockGrant = lockGrantsWhere('families.grant', 'id = $1');
const lockGrantsOfClient = lockGrantsWhere('families.of-client', 'client_id = $1');
const lockGrantsOfUser = lockGrantsWhere('families.of-user', 'account_id = $1');
const lockGrantsOfUserAndClient = lockGrantsWhere(
  'families.of-user-and-client',
  'account_id = $1 AND client_id = $2',
);
const lockGrantsOfUserAndOrganisation = lockGrantsWhere(
  'families.of-user-and-organisation',
  `account_id = $1 AND payload ->> 'creatorId' IN (SELECT id::text FROM creators WHERE organisation_id = $2)`,
);
const ofFirstPartySql = `client_id IN (
  SELECT id FROM oidc_model WHERE model = 'Client' AND payload ->> 'first_party' = 'true')`;
const offlineAccessSql = `'offline_access' = ANY (string_to_array(payload #>> '{openid,scope}', ' '))`;
const dependsOnSessionSql = `id IN (SELECT grant_id FROM oidc_model WHERE session_uid = ANY ($1))
   AND NOT ${offlineAccessSql}`;
const lockGrantsOfSessions = lockGrantsWhere('families.of-sessions', dependsOnSessionSql);
const lockGrantsOfSessionsAndOffline = lockGrantsWhere(
  'families.of-sessions-and-offline',
  `account_id = $2 AND (${dependsOnSessionSql} OR ${ofFirstPartySql} AND ${offlineAccessSql} OR $3 AND NOT ${ofFirstPartySql})`,
);
/**
 * SQL that records the access tokens among the rows `deleted` that an API may still accept, and returns them:
 * APIs accept a token for some seconds after its expiry, because of clock differences.
 */
const recordRevokedSql = `INSERT INTO revoked_tokens (jti, expires_at)
   SELECT id, expires_at FROM deleted WHERE model = 'AccessToken' AND expires_at > now() - interval '${clockSkewSeconds} seconds'
   ON CONFLICT (jti) DO NOTHING RETURNING jti, expires_at`;
const deleteFamilies = statement(
  'families.delete',
  `WITH grants AS (DELETE FROM oidc_model WHERE model = 'Grant' AND id = ANY ($1)),
   deleted AS (DELETE FROM oidc_model WHERE grant_id = ANY ($1) RETURNING model, id, expires_at)
   ${recordRevokedSql}`,
);
const deleteAccessToken = statement(
  'families.access-token',
  `WITH deleted AS (DELETE FROM oidc_model WHERE model = 'AccessToken' AND id = $1 RETURNING model, id, expires_at)
   ${recordRevokedSql}`,
);
const deleteAccessTokensOfFamilies = statement(
  'families.access-tokens',
  `WITH deleted AS (
     DELETE FROM oidc_model WHERE grant_id = ANY ($1) AND model = 'AccessToken' RETURNING model, id, expires_at)
   ${recordRevokedSql}`,
);
const changeRoleVersion = statement(
  'families.role-version',
  `UPDATE oidc_model SET payload = payload || jsonb_build_object('roleVersion', gen_random_uuid())
   WHERE model = 'Grant' AND id = ANY ($1)`,
);
const deleteClientRow = statement(
  'families.client',
  `DELETE FROM oidc_model WHERE model = 'Client' AND id = $1`,
);
/** Deletes the registration tokens of clients that are deleted. */
export const deleteRegistrationTokens = statement(
  'families.registration-tokens',
  `DELETE FROM oidc_model WHERE model = 'RegistrationAccessToken' AND client_id = ANY ($1)`,
);
const deleteConsentsOfClient = statement(
  'families.consents',
  'DELETE FROM consents WHERE client_id = $1 RETURNING creator_id',
);

/**
 * Ends token families for oidc-provider, in the unit of work of the request. A family is the Grant, code,
 * refresh tokens and access tokens of one authorization, which end together.
 */
@Injectable()
export class Families {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly outbox: Outbox,
  ) {}

  /** Ends a whole family after a reuse or a revocation (RFC 9700 §4.14.2). */
  end(grantId: string): Promise<void> {
    return this.unitOfWork.runRevocation(async (tx) => {
      await lockFamilies(tx, lockGrant, grantId);
      // By the id of the Grant, so that it also deletes tokens whose Grant has expired and was deleted.
      return tx.rows<RevokedToken>(deleteFamilies, [[grantId]]);
    });
  }

  /** Ends one access token; its family stays. */
  endAccessToken(jti: string): Promise<void> {
    return this.unitOfWork.runRevocation((tx) => tx.rows<RevokedToken>(deleteAccessToken, [jti]));
  }

  /** Deletes a client with all its data (RFC 7592 §2.3). */
  deleteClient(clientId: string): Promise<void> {
    return this.unitOfWork.runRevocation((tx) => deleteClientWithFamilies(tx, this.outbox, clientId));
  }
}

/**
 * Deletes a client with its consents and token families, and publishes `client.deleted`. Returns the access
 * tokens to publish as revoked after the commit.
 */
export async function deleteClientWithFamilies(
  tx: Transaction,
  outbox: Outbox,
  clientId: string,
): Promise<RevokedToken[]> {
  // The client first: a change of the client (RFC 7592) locks its rows in the same order.
  const isDeleted = (await tx.run(deleteClientRow, [clientId])) > 0;
  await tx.run(deleteRegistrationTokens, [[clientId]]);
  const { creatorIds, revoked } = await endAccessOfClient(tx, clientId);
  if (isDeleted) {
    // The families are locked, so all tokens were issued before this time.
    await outbox.add(tx, messages.clientDeleted.make({ client_id: clientId }, { occurredAt: new Date() }));
    await publishCreators(tx, outbox, creatorIds);
  }
  return revoked;
}

/**
 * Ends all consents and families of a client. Returns the creators that the client was connected to, and the
 * access tokens to publish as revoked.
 */
export async function endAccessOfClient(
  tx: Transaction,
  clientId: string,
): Promise<{ readonly creatorIds: readonly string[]; readonly revoked: RevokedToken[] }> {
  const consents = await tx.rows<{ creator_id: string | null }>(deleteConsentsOfClient, [clientId]);
  const revoked = await endFamilies(tx, lockGrantsOfClient, clientId);
  return { creatorIds: [...new Set(consents.flatMap(({ creator_id }) => creator_id ?? []))], revoked };
}

/** Ends the families that depend on the browser sessions. Returns the access tokens to publish as revoked. */
export function endFamiliesOfSessions(
  tx: Transaction,
  sessionUids: readonly string[],
): Promise<RevokedToken[]> {
  return endFamilies(tx, lockGrantsOfSessions, sessionUids);
}

/**
 * Ends the families that depend on the browser sessions, and the first-party families of the person with
 * `offline_access`, which outlive sessions. After the next sign-in, the apps get new ones without consent.
 * @param thirdParties whether all third-party families of the person end, too
 */
export function endFamiliesOfSessionsAndOffline(
  tx: Transaction,
  userId: string,
  { sessionUids, thirdParties }: { readonly sessionUids: readonly string[]; readonly thirdParties: boolean },
): Promise<RevokedToken[]> {
  return endFamilies(tx, lockGrantsOfSessionsAndOffline, sessionUids, userId, thirdParties);
}

/** Ends all families of a person, `offline_access` included. */
export function endFamiliesOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return endFamilies(tx, lockGrantsOfUser, userId);
}

/** Ends the families of a person for one client. */
export async function endFamiliesOfUserAndClient(
  tx: Transaction,
  userId: string,
  clientId: string,
): Promise<{ readonly familyCount: number; readonly revoked: RevokedToken[] }> {
  const grantIds = await lockFamilies(tx, lockGrantsOfUserAndClient, userId, clientId);
  return { familyCount: grantIds.length, revoked: await tx.rows<RevokedToken>(deleteFamilies, [grantIds]) };
}

/** Ends the families of a person for the creators of an organisation that the person leaves. */
export function endFamiliesOfUserAndOrganisation(
  tx: Transaction,
  userId: string,
  organisationId: string,
): Promise<RevokedToken[]> {
  return endFamilies(tx, lockGrantsOfUserAndOrganisation, userId, organisationId);
}

/**
 * Ends only the access tokens of a person whose role has changed: a refresh issues tokens with the current
 * role. A token request in progress that has read the old role stores no tokens, unless its family began
 * during this statement.
 */
export async function endAccessTokensOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  const grantIds = await lockFamilies(tx, lockGrantsOfUser, userId);
  await tx.run(changeRoleVersion, [grantIds]);
  return tx.rows<RevokedToken>(deleteAccessTokensOfFamilies, [grantIds]);
}

/** Ends the families whose Grants the statement locks. Returns the access tokens to publish as revoked. */
async function endFamilies(
  tx: Transaction,
  lockGrants: Statement,
  ...values: readonly unknown[]
): Promise<RevokedToken[]> {
  return tx.rows<RevokedToken>(deleteFamilies, [await lockFamilies(tx, lockGrants, ...values)]);
}

/** Returns the ids of the locked Grants. */
async function lockFamilies(
  tx: Transaction,
  lockGrants: Statement,
  ...values: readonly unknown[]
): Promise<string[]> {
  return (await tx.rows<{ id: string }>(lockGrants, values)).map(({ id }) => id);
}
