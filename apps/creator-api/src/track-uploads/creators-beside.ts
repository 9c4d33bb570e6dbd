/**
 * SQL for the creators of the same organisation as the one that the expression names, itself among them, also when its registration is not known
 * here yet. Work is shared out by organisation: it may have any number of creators.
 */
export function creatorsBeside(creatorId: string): string {
  return `SELECT ${creatorId} UNION SELECT beside.id FROM creators beside
    JOIN creators own ON own.organisation_id = beside.organisation_id WHERE own.id = ${creatorId}`;
}
