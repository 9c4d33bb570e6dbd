import { type Database, statement } from '@fulfilment/database';
import { setTimeout as sleep } from 'node:timers/promises';

const batchSize = 1000;

// One replica at a time: several would add load without being faster.
const lockCleanup = statement('cleanup.lock', 'SELECT pg_try_advisory_xact_lock(7391004) AS locked');
// A client that expires was never authorized (adapter.ts), so no message is needed. Batches are small and use
// an index, so that millions of old rows never hold a lock for long.
const deleteExpired = statement(
  'cleanup.expired-records',
  `DELETE FROM oidc_model WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM oidc_model WHERE expires_at < now() - interval '1 minute'
     ORDER BY expires_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))
   RETURNING CASE WHEN model = 'Client' THEN id END AS client_id`,
);
const deleteRegistrations = statement(
  'cleanup.registration-tokens',
  `DELETE FROM oidc_model WHERE model = 'RegistrationAccessToken' AND client_id = ANY ($1)`,
);

/** Deletes a batch of expired records. Returns whether there may be more. */
export async function deleteExpiredRecords(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const lock = await tx.row<{ locked: boolean }>(lockCleanup);
    if (lock?.locked !== true) return false;
    const deleted = await tx.rows<{ client_id: string | null }>(deleteExpired);
    const clients = deleted.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]));
    if (clients.length > 0) await tx.run(deleteRegistrations, [clients]);
    return deleted.length === batchSize;
  });
}

/**
 * Pauses after a full batch for nine times its duration, so that clean-up uses at most a tenth of a
 * connection's time.
 */
export async function withPauses(batch: () => Promise<boolean>): Promise<boolean> {
  const startedAt = performance.now();
  const more = await batch();
  if (more) await sleep(9 * (performance.now() - startedAt));
  return more;
}
