import { type CreatorSnapshot, type EditionSnapshot, uuidv7 } from '@fulfilment/contracts';

/** A creator, by default one whose charges succeed, as messages of auth-server contain it. */
export const creatorSnapshot = (id: string, changes: Partial<CreatorSnapshot> = {}): CreatorSnapshot => ({
  id,
  version: 1,
  organisation_id: 'org_test',
  name: 'Harbour Lights',
  payment_method: 'pm_ok',
  payment_terms_accepted: true,
  tax_interview_completed: true,
  settlement_currency: 'GBP',
  registered_at: new Date().toISOString(),
  ...changes,
});

/** An edition as messages of creator-api contain it. */
export const editionSnapshot = (
  creator_id: string,
  changes: Partial<EditionSnapshot> = {},
): EditionSnapshot => ({
  id: uuidv7(),
  creator_id,
  title: 'Tidal Maps',
  release_type_id: 1,
  ean: null,
  created_at: new Date().toISOString(),
  ...changes,
});
