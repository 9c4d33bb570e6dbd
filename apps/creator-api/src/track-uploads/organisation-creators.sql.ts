/**
 * SQL: the ids of the creators of the same organisation, including the given creator, even if it is not
 * registered here yet. Upload limits apply per organisation, which may have any number of creators.
 */
export function organisationCreators(creatorId: string): string {
  return `SELECT ${creatorId} UNION SELECT other.id FROM creators other
    JOIN creators own ON own.organisation_id = other.organisation_id WHERE own.id = ${creatorId}`;
}
