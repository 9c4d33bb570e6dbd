import { Injectable } from '@nestjs/common';
import { Database, statement } from '@fulfilment/database';
import { validConsentSql } from '../creator-snapshots/valid-consent.sql.js';
import { creatorNameSql } from '../creators/creator-name.sql.js';
import { accountClientId } from '../registration/account-client.js';

/** An app that a person has allowed to act for creators. */
export interface ConnectedApp {
  readonly client_id: string;
  readonly name: string | null;
  readonly first_party: boolean;
  readonly creator_names: readonly string[];
  readonly scopes: readonly string[];
  readonly connected_at: Date;
}

// Apps with a consent, and apps with offline access, since first-party apps need no consent. A consent names
// its creator only while it is valid: the person may have left the organisation. Only the newest 200, so that
// the page stays readable.
const list = statement(
  'connected-apps.list',
  `WITH connection AS (
     SELECT client_id, CASE WHEN ${validConsentSql('consents')} THEN creator_id END AS creator_id, scopes, given_at
     FROM consents WHERE user_id = $1
     UNION ALL
     SELECT client_id, (payload ->> 'creatorId')::uuid,
            string_to_array(payload #>> '{openid,scope}', ' '), created_at
     FROM oidc_model
     WHERE model = 'Grant' AND account_id = $1::text AND expires_at > now()
       AND 'offline_access' = ANY (string_to_array(payload #>> '{openid,scope}', ' ')))
   SELECT connection.client_id, client.payload ->> 'client_name' AS name,
     coalesce((client.payload ->> 'first_party')::boolean, false) AS first_party,
     coalesce(array_agg(DISTINCT ${creatorNameSql}) FILTER (WHERE creators.id IS NOT NULL), '{}') AS creator_names,
     array_agg(DISTINCT scope) AS scopes, min(given_at) AS connected_at
   FROM connection
   JOIN oidc_model AS client ON client.model = 'Client' AND client.id = connection.client_id
   LEFT JOIN creators ON creators.id = connection.creator_id
   CROSS JOIN LATERAL unnest(connection.scopes) AS scope
   WHERE connection.client_id <> '${accountClientId}'
   GROUP BY connection.client_id, client.payload
   ORDER BY min(given_at) DESC, connection.client_id LIMIT 200`,
);

/** Reads the apps that are connected to a person's account. */
@Injectable()
export class ReadConnectedApps {
  constructor(private readonly database: Database) {}

  /** Returns the apps by the time of their first connection, the newest first. */
  list(userId: string): Promise<ConnectedApp[]> {
    return this.database.rows<ConnectedApp>(list, [userId]);
  }
}
