import { statement, type Transaction } from '@fulfilment/database';
import { searchText } from '../search.rules.js';

const readCreatorName = statement('edition.read-creator-name', 'SELECT name FROM creators WHERE id = $1');
const lockEditionsWithoutArtist = statement(
  'edition.lock-without-artist',
  "SELECT id, name FROM releases WHERE creator_id = $1 AND artist_name = '' AND release_type_id IS NOT NULL ORDER BY id FOR UPDATE",
);
const setArtist = statement(
  'edition.set-artist',
  `UPDATE releases r SET artist_name = $2, search_text = edition.search_text
   FROM unnest($1::uuid[], $3::text[]) AS edition (id, search_text) WHERE r.id = edition.id`,
);

/** Returns the creator's name, which is the artist of the creator's editions; empty while it is unknown. */
export async function findCreatorName(tx: Transaction, creatorId: string): Promise<string> {
  const creator = await tx.row<{ name: string | null }>(readCreatorName, [creatorId]);
  return creator?.name ?? '';
}

/**
 * Sets the artist of editions that were created before the creator's name was known. The caller holds the
 * lock of the creator and has already stored the creator.
 */
export async function setArtistOfEditions(tx: Transaction, creatorId: string): Promise<void> {
  const artistName = await findCreatorName(tx, creatorId);
  if (artistName === '') return;
  const editions = await tx.rows<{ id: string; name: string }>(lockEditionsWithoutArtist, [creatorId]);
  if (editions.length === 0) return;
  await tx.run(setArtist, [
    editions.map(({ id }) => id),
    artistName,
    editions.map(({ name }) => searchText(name, artistName)),
  ]);
}
