import { type Database, statement } from '@fulfilment/database';

const batchSize = 1000;

// Expired quotes are kept for a week, for the error `expired` of a late order and for disputes.
const deleteOld = statement(
  'shipping.delete-expired-quotes',
  `DELETE FROM quotes WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM quotes WHERE expires_at < now() - interval '7 days' LIMIT ${batchSize}))`,
);

/** Deletes a batch of quotes that expired a week ago. Returns their number. */
export function deleteExpiredQuotes(database: Database): Promise<number> {
  return database.run(deleteOld);
}
