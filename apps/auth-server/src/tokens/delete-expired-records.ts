import { type Database, statement } from '@fulfilment/database';
import { deleteRegistrationTokens } from './families.js';

const batchSize = 1000;

/** Key of an advisory lock. One replica at a time deletes: several would add load without being faster. */
export const cleanupLock = 7_391_004;
const lockCleanup = statement('cleanup.lock', `SELECT pg_try_advisory_xact_lock(${cleanupLock}) AS locked`);
// A client that expires was never authorized (consents.ts), so no message is needed. Batches are small and
// use an index, so that millions of old rows never hold a lock for long. The minute allows for clock
// differences.
const deleteExpired = statement(
  'cleanup.expired-records',
  `DELETE FROM oidc_model WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM oidc_model WHERE expires_at < now() - interval '1 minute'
     ORDER BY expires_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))
   RETURNING CASE WHEN model = 'Client' THEN id END AS client_id`,
);

/** Deletes a batch of expired records. Returns their number. */
export async function deleteExpiredRecords(database: Database): Promise<number> {
  return database.transaction(async (tx) => {
    const lock = await tx.row<{ locked: boolean }>(lockCleanup);
    if (lock?.locked !== true) return 0;
    const deleted = await tx.rows<{ client_id: string | null }>(deleteExpired);
    const clients = deleted.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]));
    if (clients.length > 0) await tx.run(deleteRegistrationTokens, [clients]);
    return deleted.length;
  });
}
