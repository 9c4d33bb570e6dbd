import type { CreatorSnapshot } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';

const upsertCreator = statement(
  'creator.upsert',
  `INSERT INTO creators AS known (id, version, organisation_id, name, payment_method, payment_terms_accepted,
                                  tax_interview_completed, registered_at, test)
   VALUES (:id, :version, :organisation_id, :name, :payment_method, :payment_terms_accepted, :tax_interview_completed, :registered_at, :test)
   ON CONFLICT (id) DO UPDATE SET
     version = excluded.version, organisation_id = excluded.organisation_id, name = excluded.name,
     payment_method = excluded.payment_method, payment_terms_accepted = excluded.payment_terms_accepted,
     tax_interview_completed = excluded.tax_interview_completed
   WHERE known.version < excluded.version`,
);

/**
 * Stores a creator, unless a newer version is stored already. `test` never changes after the first version.
 */
export async function recordCreator(tx: Transaction, creator: CreatorSnapshot): Promise<void> {
  await tx.run(upsertCreator, { ...creator, test: creator.test ?? false });
}
