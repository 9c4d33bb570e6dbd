import { type Database, statement } from '@fulfilment/database';

const batchSize = 1000;

// Small batches by index: millions of old rows never hold a lock or a request for long. Other replicas take other rows.
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
    const gone = await tx.rows<{ client_id: string | null }>(deleteExpired);
    const clients = gone.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]));
    if (clients.length > 0) await tx.run(deleteRegistrations, [clients]);
    return gone.length === batchSize;
  });
}
