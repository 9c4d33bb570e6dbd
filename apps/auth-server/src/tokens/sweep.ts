import { type Database, statement } from '@fulfilment/database';
import { setTimeout as sleep } from 'node:timers/promises';

const batchSize = 1000;

// One replica at a time: together they would not be faster, only louder.
const lockSweep = statement('sweep.lock', 'SELECT pg_try_advisory_xact_lock(7391004) AS locked');
// A client among them was never authorized (adapter.ts): it has no access to anything, so nobody is told.
// Small batches by index: millions of old rows never hold a lock or a request for long.
const deleteExpired = statement(
  'sweep.expired',
  `DELETE FROM oidc_model WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM oidc_model WHERE expires_at < now() - interval '1 minute'
     ORDER BY expires_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))
   RETURNING CASE WHEN model = 'Client' THEN id END AS client_id`,
);
const deleteRegistrations = statement(
  'sweep.registrations',
  `DELETE FROM oidc_model WHERE model = 'RegistrationAccessToken' AND client_id = ANY ($1)`,
);

/** Deletes a batch of expired records. Answers whether there may be more. */
export async function sweepExpired(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const lock = await tx.row<{ locked: boolean }>(lockSweep);
    if (lock?.locked !== true) return false;
    const gone = await tx.rows<{ client_id: string | null }>(deleteExpired);
    const clients = gone.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]));
    if (clients.length > 0) await tx.run(deleteRegistrations, [clients]);
    return gone.length === batchSize;
  });
}

/** Between full batches it rests nine times as long as they took: at most a tenth of a connection's time, however much is old. */
export async function sweepGently(batch: () => Promise<boolean>): Promise<boolean> {
  const startedAt = performance.now();
  const more = await batch();
  if (more) await sleep(9 * (performance.now() - startedAt));
  return more;
}
