import type { CreatorSnapshot } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { recordApps } from './record-apps.js';

// $2 says whether to overwrite a creator of the same version too.
const upsert = statement(
  'creators.upsert',
  `INSERT INTO creators (id, version, organisation_id, name, settlement_currency, registered_at, test)
   SELECT id, version, organisation_id, name, settlement_currency, registered_at, coalesce(test, false)
   FROM jsonb_to_recordset($1::jsonb) AS c(id uuid, version int, organisation_id text, name text,
     settlement_currency text, registered_at timestamptz, test boolean)
   ORDER BY id
   ON CONFLICT (id) DO UPDATE SET version = excluded.version, organisation_id = excluded.organisation_id,
     name = excluded.name, settlement_currency = excluded.settlement_currency, registered_at = excluded.registered_at,
     test = excluded.test
   WHERE creators.version < excluded.version OR ($2 AND creators.version = excluded.version) RETURNING id`,
);

/**
 * Stores the latest version of each creator, with its apps.
 * @param snapshots at most one per creator
 * @param options.replay also overwrites a stored creator of the same version
 */
export async function recordCreators(
  tx: Transaction,
  snapshots: readonly CreatorSnapshot[],
  { replay = false }: { readonly replay?: boolean } = {},
): Promise<void> {
  if (snapshots.length === 0) return;
  const stored = await tx.rows<{ id: string }>(upsert, [JSON.stringify(snapshots), replay]);
  const ids = new Set(stored.map(({ id }) => id));
  await recordApps(
    tx,
    snapshots.filter(({ id }) => ids.has(id)),
  );
}
