import type { CreatorSnapshot } from '@fulfilment/contracts';
import { validConsentSql } from './valid-consent.sql.js';

/** A row of the creators table with its apps, as it is published. */
export interface PublishedRow extends Omit<CreatorSnapshot, 'registered_at' | 'test' | 'apps'> {
  readonly registered_at: Date;
  /** Whether its orders move no money and reach no warehouse. Never changes. */
  readonly test: boolean;
  readonly apps: NonNullable<CreatorSnapshot['apps']>;
}

export const creatorColumns = `id, organisation_id, name, payment_method, payment_terms_accepted,
  tax_interview_completed, settlement_currency, test, version, registered_at`;

const clientColumns = `client.id AS client_id, client.payload ->> 'client_name' AS name`;
const isFirstPartySql = `client.payload ->> 'first_party' = 'true'`;
const connectedAtSql = `to_char(min(consent.given_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
/**
 * Bounds the message: the newest connected apps, and the first-party apps by id. The Creator API shows all
 * others as not connected (ADR 63).
 */
const maxAppsOfEachKind = 200;

/**
 * Columns of a `PublishedRow`, for a SELECT from `creators` without an alias. Use it in a statement after the
 * change: RETURNING would miss apps that were connected while the change waited for the row.
 */
export const publishedColumns = `${creatorColumns}, (
    SELECT coalesce(jsonb_agg(app), '[]') FROM (
      (SELECT ${clientColumns}, true AS first_party, NULL AS connected_at FROM oidc_model AS client
       WHERE client.model = 'Client' AND ${isFirstPartySql} ORDER BY client.id LIMIT ${maxAppsOfEachKind})
      UNION ALL
      (SELECT ${clientColumns}, false, ${connectedAtSql}
       FROM consents AS consent JOIN oidc_model AS client ON client.model = 'Client' AND client.id = consent.client_id
       WHERE consent.creator_id = creators.id AND (${isFirstPartySql}) IS NOT TRUE AND ${validConsentSql('consent')}
       GROUP BY client.id, client.payload ORDER BY min(consent.given_at) DESC, client.id LIMIT ${maxAppsOfEachKind})
    ) AS app) AS apps`;

/** Returns the snapshot of a creator that is published to the other services. */
export function creatorSnapshot({ registered_at, test, ...members }: PublishedRow): CreatorSnapshot {
  return { ...members, registered_at: registered_at.toISOString(), ...(test && { test: true }) };
}
