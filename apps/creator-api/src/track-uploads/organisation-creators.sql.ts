/**
 * SQL: the ids of all creators of a creator's organisation, and of the creator itself even if it is not
 * registered here yet. Running uploads are limited and ranked per organisation, which may have any number of
 * creators.
 */
export function organisationCreators(creatorId: string): string {
  return `SELECT ${creatorId} UNION SELECT other.id FROM creators other
    JOIN creators own ON own.organisation_id = other.organisation_id WHERE own.id = ${creatorId}`;
}
