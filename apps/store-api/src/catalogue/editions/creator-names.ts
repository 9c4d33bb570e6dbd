import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { searchText } from '../search.rules.js';

const readCreatorName = statement('edition.read-creator-name', 'SELECT name FROM creators WHERE id = $1');
const readNameless = statement(
  'edition.read-nameless',
  "SELECT id, name FROM releases WHERE creator_id = $1 AND artist_name = '' AND release_type_id IS NOT NULL ORDER BY id FOR UPDATE",
);
const addName = statement(
  'edition.add-creator-name',
  `UPDATE releases r SET artist_name = $2, search_text = named.search_text
   FROM unnest($1::uuid[], $3::text[]) AS named (id, search_text) WHERE r.id = named.id`,
);

/**
 * The artist of an edition is the name of its creator, whose message may arrive before or after that of the
 * edition. The caller holds the creator's lock.
 */
@Injectable()
export class CreatorNames {
  /** Returns the creator's name; empty while it is unknown. */
  async find(tx: Transaction, creatorId: string): Promise<string> {
    const creator = await tx.row<{ name: string | null }>(readCreatorName, [creatorId]);
    return creator?.name ?? '';
  }

  /**
   * Sets the name in editions that were created before the creator's name was known. Call after the creator
   * is written.
   */
  async addToEditions(tx: Transaction, creatorId: string): Promise<void> {
    const artistName = await this.find(tx, creatorId);
    if (artistName === '') return;
    const editions = await tx.rows<{ id: string; name: string }>(readNameless, [creatorId]);
    if (editions.length === 0) return;
    await tx.run(addName, [
      editions.map(({ id }) => id),
      artistName,
      editions.map(({ name }) => searchText(name, artistName)),
    ]);
  }
}
