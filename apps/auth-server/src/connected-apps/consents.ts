import { type Database, statement } from '@fulfilment/database';
import type { Consent } from '../oidc/connected-creator.rules.js';

const remember = statement(
  'consents.remember',
  `INSERT INTO consents (user_id, client_id, creator_id, scopes) VALUES ($1, $2, $3, $4)
   ON CONFLICT (user_id, client_id, creator_id) DO UPDATE SET changed_at = now(),
     scopes = ARRAY(SELECT DISTINCT unnest(consents.scopes || EXCLUDED.scopes) ORDER BY 1)`,
);
// Only creators the person still acts for; an old yes is worth nothing for an organisation one has left.
const list = statement(
  'consents.list',
  `SELECT creator_id, scopes FROM consents
   WHERE user_id = $1 AND client_id = $2 AND (creator_id IS NULL OR EXISTS (
     SELECT 1 FROM creators JOIN memberships USING (organisation_id)
     WHERE creators.id = consents.creator_id AND memberships.user_id = $1))`,
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

  of(userId: string, clientId: string): Promise<Consent[]> {
    return this.database.rows<Consent & Record<string, unknown>>(list, [userId, clientId]);
  }
}
