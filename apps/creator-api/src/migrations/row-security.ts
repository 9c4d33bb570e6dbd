/**
 * Creates the two request roles, which the transactions of requests assume (visibility/visibility.ts). Roles
 * belong to the whole server, so they stay when this database is dropped. Creating them requires CREATEROLE;
 * without it an operator must create them first.
 */
export const createRequestRoles = `
  DO $$
  DECLARE caller text;
  BEGIN
    FOREACH caller IN ARRAY ARRAY['creator_api_member', 'creator_api_operator'] LOOP
      BEGIN
        IF to_regrole(caller) IS NULL THEN EXECUTE format('CREATE ROLE %I NOLOGIN', caller); END IF;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database's migration has just created it
      END;
      IF NOT pg_has_role(current_user, caller, 'MEMBER') THEN
        EXECUTE format('GRANT %I TO %I', caller, current_user);
      END IF;
    END LOOP;
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'The database user % may not take the role %. As a superuser: %', current_user, caller,
      format('CREATE ROLE %1$I NOLOGIN; GRANT %1$I TO %2$I;', caller, current_user);
  END $$;
`;

const ownOrganisation = "organisation_id = NULLIF(current_setting('suite.organisation_id', true), '')";
/** Tables of the baseline whose rows belong to creators. */
export const tablesOfCreators = [
  'orders',
  'order_items',
  'order_counts',
  'order_events',
  'monthly_statistics',
  'monthly_breakdown',
  'editions',
  'ordered_releases',
  'track_uploads',
  'idempotency_keys',
];

/** SQL: lets the request roles read the rows of a table for which the condition of the role holds. */
function allowReading(table: string, memberCondition: string, operatorCondition: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    GRANT SELECT ON ${table} TO creator_api_member, creator_api_operator;
    CREATE POLICY member ON ${table} TO creator_api_member USING (${memberCondition});
    CREATE POLICY operator ON ${table} TO creator_api_operator USING (${operatorCondition});
  `;
}

/** SQL: whether the creator of a row is visible. */
export function ownRow(table: string): string {
  return `(SELECT true FROM creators c WHERE c.id = ${table}.creator_id)`;
}

/**
 * SQL: whether the creator of a row is visible, without a check for the creator that the transaction selected
 * (visibility/select-creator.ts).
 */
export function ownOrSelectedRow(table: string): string {
  return `creator_id = (SELECT NULLIF(current_setting('suite.creator_id', true), '')::uuid) OR ${ownRow(table)}`;
}

/** SQL: lets the request roles read the rows of the creators that they may see. */
export function allowReadingOwnRows(table: string): string {
  return allowReading(table, ownRow(table), 'true');
}

/** SQL: like `allowReadingOwnRows`, for a table that was added after migration 0003 changed the policies. */
export function allowReadingOwnOrSelectedRows(table: string): string {
  return allowReading(table, ownOrSelectedRow(table), 'true');
}

/**
 * A member sees the creators of its organisation, and none if no organisation is set; a global admin (role
 * creator_api_operator) sees all.
 * Any other row is visible if its creator is: the policy of `creators` also applies to the SELECT in
 * `ownRow`, which finds the creator by its key. With IN or EXISTS, PostgreSQL would read all creators of the
 * organisation for every statement.
 */
export const enableRowSecurity = [
  allowReading('creators', ownOrganisation, 'true'),
  // The organisation '' counts all creators.
  allowReading('creator_counts', ownOrganisation, "organisation_id = ''"),
  ...tablesOfCreators.map(allowReadingOwnRows),
  'GRANT INSERT ON editions, outbox, track_uploads TO creator_api_member, creator_api_operator;',
  'GRANT INSERT, UPDATE ON idempotency_keys TO creator_api_member, creator_api_operator;',
].join('');
