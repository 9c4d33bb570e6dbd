import { type Database, statement } from '@fulfilment/database';
import type { Consent } from './covering-consent.rules.js';

// Waits for who is just disconnecting the app (tell-disconnections.ts): they say whether they were the last.
const remember = statement(
  'consents.remember',
  `WITH client AS (SELECT id FROM oidc_model WHERE model = 'Client' AND id = $2 FOR SHARE)
   INSERT INTO consents (user_id, client_id, creator_id, scopes) SELECT $1::uuid, client.id, $3::uuid, $4::text[] FROM client
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

/** What people allowed which client for which creator: remembered across browsers and sessions. */
export class Consents {
  constructor(private readonly database: Database) {}

  async remember(
    userId: string,
    clientId: string,
    creatorId: string | undefined,
    scopes: readonly string[],
  ): Promise<void> {
    await this.database.run(remember, [userId, clientId, creatorId ?? null, scopes]);
  }

  /** Whether it was given and is not taken back, nor just being. */
  async stands(userId: string, clientId: string, creatorId: string | undefined): Promise<boolean> {
    return (await this.database.row(find, [userId, clientId, creatorId ?? null])) !== undefined;
  }

  of(userId: string, clientId: string): Promise<Consent[]> {
    return this.database.rows<Consent & Record<string, unknown>>(list, [userId, clientId]);
  }
}
