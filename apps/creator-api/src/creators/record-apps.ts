import type { CreatorSnapshot } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';

const snapshotAppsSql = `jsonb_to_recordset($1::jsonb) AS a(creator_id uuid, client_id text, name text, first_party boolean, connected_at timestamptz)`;

// Writes changed names only: the messages of all creators have the same few rows, whose locks would
// serialise the messages.
const recordFirstParty = statement(
  'apps.record-first-party',
  `INSERT INTO first_party_apps (client_id, name)
   SELECT DISTINCT ON (a.client_id) a.client_id, a.name FROM ${snapshotAppsSql} LEFT JOIN first_party_apps known USING (client_id)
   WHERE a.first_party AND (known.client_id IS NULL OR known.name IS DISTINCT FROM a.name) ORDER BY a.client_id
   ON CONFLICT (client_id) DO UPDATE SET name = excluded.name`,
);
// Ends the connections of apps that the newest version of a creator no longer has.
const disconnect = statement(
  'apps.disconnect',
  `UPDATE creator_apps SET connected_at = NULL WHERE creator_id = ANY($2::uuid[]) AND connected_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM ${snapshotAppsSql} WHERE a.creator_id = creator_apps.creator_id AND a.client_id = creator_apps.client_id)`,
);
const connect = statement(
  'apps.connect',
  `INSERT INTO creator_apps (creator_id, client_id, name, connected_at)
   SELECT creator_id, client_id, name, connected_at FROM ${snapshotAppsSql} WHERE NOT first_party
   ON CONFLICT (creator_id, client_id) DO UPDATE SET name = excluded.name, connected_at = excluded.connected_at`,
);

/**
 * Stores the apps of creators (ADR 63).
 * @param creators the newest versions, whose rows the transaction has locked
 */
export async function recordApps(tx: Transaction, creators: readonly CreatorSnapshot[]): Promise<void> {
  // An auth-server of an earlier version publishes no apps: the stored apps stay.
  const withApps = creators.filter((creator) => creator.apps !== undefined);
  if (withApps.length === 0) return;
  const rows = JSON.stringify(
    withApps.flatMap(({ id: creator_id, apps = [] }) => apps.map((app) => ({ creator_id, ...app }))),
  );
  await Promise.all([
    tx.run(recordFirstParty, [rows]),
    tx.run(disconnect, [rows, withApps.map(({ id }) => id)]),
    tx.run(connect, [rows]),
  ]);
}
