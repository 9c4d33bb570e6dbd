import type { CreatorSnapshot } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';

const upsert = statement(
  'creators.upsert',
  `INSERT INTO creators (id, version, organisation_id, name, settlement_currency, registered_at)
   SELECT id, version, organisation_id, name, settlement_currency, registered_at
   FROM jsonb_to_recordset($1::jsonb) AS c(id uuid, version int, organisation_id text, name text,
     settlement_currency text, registered_at timestamptz)
   ORDER BY id
   ON CONFLICT (id) DO UPDATE SET version = excluded.version, organisation_id = excluded.organisation_id,
     name = excluded.name, settlement_currency = excluded.settlement_currency
   WHERE creators.version < excluded.version`,
);

/** Keeps each creator as its newest version says. @param snapshots at most one of a creator */
export async function recordCreators(tx: Transaction, snapshots: readonly CreatorSnapshot[]): Promise<void> {
  if (snapshots.length > 0) await tx.run(upsert, [JSON.stringify(snapshots)]);
}
