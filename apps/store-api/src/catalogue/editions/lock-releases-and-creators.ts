import { statement, type Transaction } from '@fulfilment/database';

// In the order of the keys, to avoid deadlocks. The prefix separates the keys from those of other locks. It
// never changes, since replicas of two versions of store-api may run concurrently.
const lock = statement(
  'creators.lock-subjects',
  `SELECT pg_advisory_xact_lock(key) FROM (
     SELECT DISTINCT hashtextextended('facts-of:' || id, 0) AS key FROM unnest($1::text[]) AS id ORDER BY key) AS keys`,
);

/**
 * Locks releases and creators, by their ids, until the transaction ends, so that the next transaction about
 * them sees its rows. Call it once per transaction, to avoid deadlocks.
 */
export async function lockReleasesAndCreators(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.run(lock, [ids]);
}
