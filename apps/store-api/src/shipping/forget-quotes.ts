import { type Database, statement } from '@fulfilment/database';

const batchSize = 1000;

// Expired ones are kept for a week: an order that comes late is told so, and a dispute can be looked up.
const deleteOld = statement(
  'shipping.forget-quotes',
  `DELETE FROM quotes WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM quotes WHERE expires_at < now() - interval '7 days' LIMIT ${batchSize}))`,
);

/** Deletes a batch of long expired quotes. Answers whether there may be more. */
export async function forgetQuotes(database: Database): Promise<boolean> {
  return (await database.run(deleteOld)) === batchSize;
}
