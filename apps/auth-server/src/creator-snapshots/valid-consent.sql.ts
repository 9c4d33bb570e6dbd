/** SQL: a consent is valid while its person is enabled and may act for the creator. */
export function validConsentSql(consent: string): string {
  return `EXISTS (SELECT 1 FROM users JOIN memberships ON memberships.user_id = users.id
     JOIN creators AS connected USING (organisation_id)
     WHERE users.id = ${consent}.user_id AND users.disabled_at IS NULL AND connected.id = ${consent}.creator_id)`;
}
