import { Injectable } from '@nestjs/common';
import { Database, pipelined, statement, type Transaction } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { publishCreators } from '../creator-snapshots/publish-creators.js';
import { validConsentSql } from '../creator-snapshots/valid-consent.sql.js';
import { identityDigest, identityOf, type IdentifiedClient } from '../registration/client-identity.rules.js';
import type { Consent } from './covering-consent.rules.js';

// Waits for a disconnection by the same person. Taken before the lock of the client, as in
// disconnect-and-publish.ts, so that the two cannot deadlock.
const lockEnabledUserShared = statement(
  'consents.lock-enabled-user-shared',
  'SELECT FROM users WHERE id = $1 AND disabled_at IS NULL FOR KEY SHARE',
);
// A client that registered itself expires after 30 days unless a person authorizes it. Taken before
// `lockClientShared`: two consents that both hold that lock would deadlock when both clear the expiry.
const lockExpiringClient = statement(
  'consents.lock-expiring-client',
  `SELECT FROM oidc_model WHERE model = 'Client' AND id = $1 AND expires_at IS NOT NULL FOR NO KEY UPDATE`,
);
const clearClientExpiry = statement(
  'consents.clear-client-expiry',
  `UPDATE oidc_model SET expires_at = NULL WHERE model = 'Client' AND id = $1`,
);
// Waits for a disconnection of the app by another person, which checks under this lock whether another
// consent remains.
const lockClientShared = statement(
  'consents.lock-client-shared',
  `SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1 FOR SHARE`,
);
// `changed_at` and `given_at` both default to now(), so they are equal only in a new consent.
const save = statement(
  'consents.save',
  `INSERT INTO consents (user_id, client_id, creator_id, scopes) VALUES ($1::uuid, $2, $3::uuid, $4::text[])
   ON CONFLICT (user_id, client_id, creator_id) DO UPDATE SET changed_at = now(),
     scopes = ARRAY(SELECT DISTINCT unnest(consents.scopes || EXCLUDED.scopes) ORDER BY 1)
   RETURNING changed_at = given_at AS is_new`,
);
// Waits for a concurrent disconnection, which deletes the consent.
const find = statement(
  'consents.find',
  `SELECT 1 FROM consents WHERE user_id = $1 AND client_id = $2 AND creator_id IS NOT DISTINCT FROM $3::uuid FOR KEY SHARE`,
);
// Valid consents. One without a creator is valid while the person can act for no creator.
const list = statement(
  'consents.list',
  `SELECT creator_id, scopes FROM consents
   WHERE user_id = $1 AND client_id = $2 AND CASE
     WHEN creator_id IS NULL THEN NOT EXISTS (
       SELECT 1 FROM creators JOIN memberships USING (organisation_id) WHERE memberships.user_id = $1)
     ELSE ${validConsentSql('consents')} END`,
);
/** Deletes a person's consents for one client, for all creators. */
export const deleteConsentsOfUserAndClient = statement(
  'consents.delete-for-client',
  'DELETE FROM consents WHERE user_id = $1 AND client_id = $2',
);

/** Deletes a person's consents for all clients. */
export const deleteConsentsOfUser = statement(
  'consents.delete-all',
  'DELETE FROM consents WHERE user_id = $1',
);

const listCreators = statement(
  'consents.creators',
  'SELECT DISTINCT creator_id FROM consents WHERE user_id = $1 AND creator_id IS NOT NULL',
);

/** Returns the creators of a person's consents, including those that the person may no longer act for. */
export async function creatorsOfConsents(tx: Transaction, userId: string): Promise<string[]> {
  const rows = await tx.rows<{ creator_id: string }>(listCreators, [userId]);
  return rows.map(({ creator_id }) => creator_id);
}

/**
 * Stored consents: which scopes a person allowed a client for a creator. They hold across browsers and
 * sessions.
 */
@Injectable()
export class Consents {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Stores a consent. A new one connects an app, so the creator's snapshot is published.
   * @param consent `appIdentity`: digest of the client's identity on the page
   * @returns false, and stores none, if the person was disabled or redacted, the client deleted or its
   *   identity changed since the page was shown
   */
  async save(consent: {
    readonly userId: string;
    readonly clientId: string;
    readonly appIdentity: string;
    readonly creatorId: string | undefined;
    readonly scopes: readonly string[];
  }): Promise<boolean> {
    const { userId, clientId, appIdentity, creatorId, scopes } = consent;
    return this.database.transaction(async (tx) => {
      const [enabledUsers, expiringClients, client] = await pipelined([
        tx.run(lockEnabledUserShared, [userId]),
        tx.run(lockExpiringClient, [clientId]),
        tx.row<{ payload: IdentifiedClient }>(lockClientShared, [clientId]),
      ]);
      if (enabledUsers === 0 || client === undefined) return false;
      if (identityDigest(identityOf(client.payload)) !== appIdentity) return false;
      if (expiringClients > 0) await tx.run(clearClientExpiry, [clientId]);
      const values = [userId, clientId, creatorId ?? null, scopes];
      const saved = await tx.row<{ is_new: boolean }>(save, values);
      if (creatorId !== undefined && saved?.is_new === true)
        await publishCreators(tx, this.outbox, [creatorId]);
      return true;
    });
  }

  /** Whether a consent exists; waits for a concurrent disconnection. */
  async isGiven(userId: string, clientId: string, creatorId: string | undefined): Promise<boolean> {
    return (await this.database.row(find, [userId, clientId, creatorId ?? null])) !== undefined;
  }

  /** Returns a person's valid consents for a client. */
  list(userId: string, clientId: string): Promise<Consent[]> {
    return this.database.rows<Consent>(list, [userId, clientId]);
  }
}
