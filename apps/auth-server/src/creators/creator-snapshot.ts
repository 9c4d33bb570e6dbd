import type { CreatorSnapshot } from '@fulfilment/contracts';

/** A row of the creators table. */
export interface CreatorRow {
  id: string;
  organisation_id: string;
  name: string | null;
  payment_method: CreatorSnapshot['payment_method'];
  payment_terms_accepted: boolean;
  tax_interview_completed: boolean;
  settlement_currency: CreatorSnapshot['settlement_currency'];
  /** Its orders move no money and reach no warehouse. Never changes. */
  test: boolean;
  version: number;
  registered_at: Date;
}

export const creatorColumns = `id, organisation_id, name, payment_method, payment_terms_accepted,
  tax_interview_completed, settlement_currency, test, version, registered_at`;

/** The snapshot of a creator that is published to the other services. */
export function creatorSnapshot(row: CreatorRow): CreatorSnapshot {
  return {
    id: row.id,
    version: row.version,
    organisation_id: row.organisation_id,
    name: row.name,
    payment_method: row.payment_method,
    payment_terms_accepted: row.payment_terms_accepted,
    tax_interview_completed: row.tax_interview_completed,
    settlement_currency: row.settlement_currency,
    registered_at: row.registered_at.toISOString(),
    ...(row.test && { test: true }),
  };
}
