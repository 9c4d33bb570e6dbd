import type { CreatorSnapshot } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';

const columns = 'id, version, organisation_id, name, settlement_currency, registered_at';
const upsertWhere = (isNews: string): string => `INSERT INTO creators (${columns})
   SELECT ${columns} FROM jsonb_to_recordset($1::jsonb) AS c(id uuid, version int, organisation_id text, name text,
     settlement_currency text, registered_at timestamptz)
   ORDER BY id
   ON CONFLICT (id) DO UPDATE SET version = excluded.version, organisation_id = excluded.organisation_id,
     name = excluded.name, settlement_currency = excluded.settlement_currency, registered_at = excluded.registered_at
   WHERE ${isNews}`;

const upsert = statement('creators.upsert', upsertWhere('creators.version < excluded.version'));
const upsertAgain = statement('creators.upsert_again', upsertWhere('creators.version <= excluded.version'));

/**
 * Keeps each creator as its newest version says.
 * @param snapshots at most one of a creator
 * @param options.again puts the version that is known right, too
 */
export async function recordCreators(
  tx: Transaction,
  snapshots: readonly CreatorSnapshot[],
  { again = false }: { readonly again?: boolean } = {},
): Promise<void> {
  if (snapshots.length > 0) await tx.run(again ? upsertAgain : upsert, [JSON.stringify(snapshots)]);
}
