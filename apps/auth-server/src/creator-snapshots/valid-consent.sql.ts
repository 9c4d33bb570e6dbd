/**
 * SQL condition: a consent is valid while its person is enabled and belongs to the creator's organisation.
 * @param consent alias of the table `consents`
 */
export function validConsentSql(consent: string): string {
  return `EXISTS (SELECT 1 FROM users JOIN memberships ON memberships.user_id = users.id
     JOIN creators AS connected USING (organisation_id)
     WHERE users.id = ${consent}.user_id AND users.disabled_at IS NULL AND connected.id = ${consent}.creator_id)`;
}
