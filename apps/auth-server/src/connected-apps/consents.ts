import { type Database, statement } from '@fulfilment/database';
import { identityDigest, identityOf, type IdentifiedClient } from '../registration/client-identity.rules.js';
import type { Consent } from './covering-consent.rules.js';

// Waits for who is just disconnecting the app (tell-disconnections.ts): they say whether they were the last.
const lockClient = statement(
  'consents.lock-client',
  `SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1 FOR SHARE`,
);
const remember = statement(
  'consents.remember',
  `INSERT INTO consents (user_id, client_id, creator_id, scopes) VALUES ($1::uuid, $2, $3::uuid, $4::text[])
   ON CONFLICT (user_id, client_id, creator_id) DO UPDATE SET changed_at = now(),
     scopes = ARRAY(SELECT DISTINCT unnest(consents.scopes || EXCLUDED.scopes) ORDER BY 1)`,
);
// Waits for who is just taking it back.
const find = statement(
  'consents.find',
  `SELECT 1 FROM consents WHERE user_id = $1 AND client_id = $2 AND creator_id IS NOT DISTINCT FROM $3::uuid FOR KEY SHARE`,
);
// Only creators the person still acts for; an old yes is worth nothing for an organisation one has left.
const list = statement(
  'consents.list',
  `SELECT creator_id, scopes FROM consents
   WHERE user_id = $1 AND client_id = $2 AND (creator_id IS NULL OR EXISTS (
     SELECT 1 FROM creators JOIN memberships USING (organisation_id)
     WHERE creators.id = consents.creator_id AND memberships.user_id = $1))`,
);
/** Of a person for a client, whichever creator they are for. */
export const forgetConsents = statement(
  'consents.forget',
  'DELETE FROM consents WHERE user_id = $1 AND client_id = $2',
);

/** Of a person for every client. */
export const forgetAllConsents = statement('consents.forget-all', 'DELETE FROM consents WHERE user_id = $1');

/** What people allowed which client for which creator: remembered across browsers and sessions. */
export class Consents {
  constructor(private readonly database: Database) {}

  /**
   * Remembers nothing for a client that was deleted, or that is no longer the one the person was shown.
   * @param shown digest of the client's identity on the page
   */
  async remember(consent: {
    readonly userId: string;
    readonly clientId: string;
    readonly shown: string;
    readonly creatorId: string | undefined;
    readonly scopes: readonly string[];
  }): Promise<void> {
    const { userId, clientId, shown, creatorId, scopes } = consent;
    await this.database.transaction(async (tx) => {
      const client = await tx.row<{ payload: IdentifiedClient }>(lockClient, [clientId]);
      if (client === undefined || identityDigest(identityOf(client.payload)) !== shown) return;
      await tx.run(remember, [userId, clientId, creatorId ?? null, scopes]);
    });
  }

  /** Whether it was given and is not taken back, nor just being. */
  async stands(userId: string, clientId: string, creatorId: string | undefined): Promise<boolean> {
    return (await this.database.row(find, [userId, clientId, creatorId ?? null])) !== undefined;
  }

  of(userId: string, clientId: string): Promise<Consent[]> {
    return this.database.rows<Consent & Record<string, unknown>>(list, [userId, clientId]);
  }
}
