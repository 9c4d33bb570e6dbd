import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { searchText } from './search.rules.js';

const nameOfCreator = statement('edition.name-of-creator', 'SELECT name FROM creators WHERE id = $1');
const nameless = statement(
  'edition.nameless',
  "SELECT id, name FROM releases WHERE creator_id = $1 AND artist_name = '' AND release_type_id IS NOT NULL ORDER BY id FOR UPDATE",
);
const fillIn = statement(
  'edition.fill-in',
  `UPDATE releases r SET artist_name = $2, search_text = filled.search_text
   FROM unnest($1::uuid[], $3::text[]) AS filled (id, search_text) WHERE r.id = filled.id`,
);

/** Editions are by their creator, who may become known before or after them. The caller has the creator to itself. */
@Injectable()
export class ArtistOfEditions {
  /** The creator's name, or none yet: then `fillIn` follows. */
  async find(tx: Transaction, creatorId: string): Promise<string> {
    const creator = await tx.row<{ name: string | null }>(nameOfCreator, [creatorId]);
    return creator?.name ?? '';
  }

  /** Names the creator's editions that came before the creator's name. Call after the creator is written. */
  async fillIn(tx: Transaction, creatorId: string): Promise<void> {
    const artistName = await this.find(tx, creatorId);
    if (artistName === '') return;
    const editions = await tx.rows<{ id: string; name: string }>(nameless, [creatorId]);
    if (editions.length === 0) return;
    await tx.run(fillIn, [
      editions.map(({ id }) => id),
      artistName,
      editions.map(({ name }) => searchText(name, artistName)),
    ]);
  }
}
