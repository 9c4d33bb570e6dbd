import { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import type { RevokedToken } from '../revocation/deny-list.js';
import type { UnitOfWork } from './unit-of-work.js';

// The Grant rows go first, in one order: this waits for tokens that are just being added to a family, and refuses later ones.
const lockGrants = (name: string, which: string) =>
  statement(name, `SELECT id FROM oidc_model WHERE model = 'Grant' AND ${which} ORDER BY id FOR UPDATE`);
const grant = lockGrants('families.grant', 'id = $1');
const grantsOfClient = lockGrants('families.of-client', 'client_id = $1');
const grantsOfUser = lockGrants('families.of-user', 'account_id = $1');
const grantsOfUserAndClient = lockGrants('families.of-user-and-client', 'account_id = $1 AND client_id = $2');
const grantsOfUserAndOrganisation = lockGrants(
  'families.of-user-and-organisation',
  `account_id = $1 AND payload ->> 'creatorId' IN (SELECT id::text FROM creators WHERE organisation_id = $2)`,
);
const ofFirstParty = `client_id IN (
  SELECT id FROM oidc_model WHERE model = 'Client' AND payload ->> 'first_party' = 'true')`;
const hasOfflineAccess = `'offline_access' = ANY (string_to_array(payload #>> '{openid,scope}', ' '))`;
const lastingGrantsOfFirstParty = lockGrants(
  'families.lasting-first-party',
  `account_id = $1 AND ${ofFirstParty} AND ${hasOfflineAccess}`,
);
const grantsOfThirdParties = lockGrants('families.third-parties', `account_id = $1 AND NOT ${ofFirstParty}`);
const grantsOfSessions = lockGrants(
  'families.of-sessions',
  `id IN (SELECT grant_id FROM oidc_model WHERE session_uid = ANY ($1))
   AND NOT ${hasOfflineAccess}`,
);
const intoRevoked = `INSERT INTO revoked_tokens (jti, expires_at)
   SELECT id, expires_at FROM gone WHERE model = 'AccessToken' AND expires_at > now()
   ON CONFLICT (jti) DO NOTHING RETURNING jti, expires_at`;
const deleteFamilies = statement(
  'families.delete',
  `WITH grants AS (DELETE FROM oidc_model WHERE model = 'Grant' AND id = ANY ($1)),
   gone AS (DELETE FROM oidc_model WHERE grant_id = ANY ($1) RETURNING model, id, expires_at)
   ${intoRevoked}`,
);
const deleteAccessToken = statement(
  'families.access-token',
  `WITH gone AS (DELETE FROM oidc_model WHERE model = 'AccessToken' AND id = $1 RETURNING model, id, expires_at)
   ${intoRevoked}`,
);
const deleteAccessTokensOfFamilies = statement(
  'families.access-tokens',
  `WITH gone AS (
     DELETE FROM oidc_model WHERE grant_id = ANY ($1) AND model = 'AccessToken' RETURNING model, id, expires_at)
   ${intoRevoked}`,
);
const deleteClient = statement(
  'families.client',
  `DELETE FROM oidc_model WHERE (model = 'Client' AND id = $1) OR (model = 'RegistrationAccessToken' AND client_id = $1)
   RETURNING model`,
);
const deleteConsents = statement('families.consents', 'DELETE FROM consents WHERE client_id = $1');

/** A family is what one authorization led to: its Grant, code, refresh tokens and access tokens. They end together. */
export class Families {
  constructor(
    private readonly work: UnitOfWork,
    private readonly outbox: Outbox,
  ) {}

  /** RFC 9700 §4.14.2: after a reuse or a revocation nothing of the family is good any more. */
  end(grantId: string): Promise<void> {
    return this.work.revoking(async (tx) => {
      await lock(tx, grant, grantId);
      return tx.rows<RevokedToken>(deleteFamilies, [[grantId]]); // its tokens too when the Grant was swept before them
    });
  }

  endAccessToken(jti: string): Promise<void> {
    return this.work.revoking((tx) => tx.rows<RevokedToken>(deleteAccessToken, [jti]));
  }

  /** RFC 7592 §2.3: a client that is gone leaves nothing behind. */
  endOfClient(clientId: string): Promise<void> {
    return this.work.revoking((tx) => endClient(tx, this.outbox, clientId));
  }
}

/** Deletes a client and what it was given, and tells everybody. Answers the access tokens to tell the APIs of after the commit. */
export async function endClient(tx: Transaction, outbox: Outbox, clientId: string): Promise<RevokedToken[]> {
  const gone = await tx.rows<{ model: string }>(deleteClient, [clientId]); // before the families, as oidc-provider does it (RFC 7592 §2.3)
  await tx.run(deleteConsents, [clientId]);
  const revoked = await endAll(tx, grantsOfClient, clientId);
  if (gone.some(({ model }) => model === 'Client')) {
    // Now, with its families locked: no token was issued later.
    await outbox.add(tx, messages.clientDeleted.make({ client_id: clientId }, { occurredAt: new Date() }));
  }
  return revoked;
}

/** Ends all a client's families. */
export function endFamiliesOfClient(tx: Transaction, clientId: string): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfClient, clientId);
}

/** Ends the families that live only as long as one of these browser sessions. Answers the access tokens to tell the APIs of. */
export function endFamiliesOfSessions(
  tx: Transaction,
  sessionUids: readonly string[],
): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfSessions, sessionUids);
}

/** Ends all a person's families, `offline_access` too. */
export function endFamiliesOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfUser, userId);
}

/** Ends what our own apps keep for a person beyond the browser session: they get it back with the next sign-in, without a question. */
export function endLastingFirstPartyFamilies(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return endAll(tx, lastingGrantsOfFirstParty, userId);
}

/** Ends all that apps of others hold for a person. */
export function endThirdPartyFamilies(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfThirdParties, userId);
}

/** A person takes an app's access away. */
export function endFamiliesOfUserAndClient(
  tx: Transaction,
  userId: string,
  clientId: string,
): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfUserAndClient, userId, clientId);
}

/** A person leaves an organisation: what acts for its creators through them ends. */
export function endFamiliesOfUserAndOrganisation(
  tx: Transaction,
  userId: string,
  organisationId: string,
): Promise<RevokedToken[]> {
  return endAll(tx, grantsOfUserAndOrganisation, userId, organisationId);
}

/** Ends the access tokens only: what an app refreshes says what the person may do now. */
export async function endAccessTokensOfUser(tx: Transaction, userId: string): Promise<RevokedToken[]> {
  return tx.rows<RevokedToken>(deleteAccessTokensOfFamilies, [await lock(tx, grantsOfUser, userId)]);
}

async function endAll(
  tx: Transaction,
  grants: typeof grant,
  ...owner: readonly unknown[]
): Promise<RevokedToken[]> {
  return tx.rows<RevokedToken>(deleteFamilies, [await lock(tx, grants, ...owner)]);
}

async function lock(tx: Transaction, grants: typeof grant, ...owner: readonly unknown[]): Promise<string[]> {
  return (await tx.rows<{ id: string }>(grants, owner)).map(({ id }) => id);
}
