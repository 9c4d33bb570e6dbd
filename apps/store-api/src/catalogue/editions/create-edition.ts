import { type EditionSnapshot, uuidv7 } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { findCreatorName } from './edition-artist.js';
import { searchText } from '../search.rules.js';

/** Release type of singles in the Creator API. */
const singleTypeId = 2;

const insertRelease = statement(
  'edition.insert-release',
  `INSERT INTO releases (id, creator_id, name, artist_name, release_type_id, ean, search_text, created_at)
   VALUES (:id, :creator_id, :title, :artist_name, :release_type_id, :ean, :search_text, :created_at)
   ON CONFLICT (id) DO NOTHING`,
);
const insertProduct = statement(
  'edition.insert-product',
  `INSERT INTO products (id, release_id, creator_id, position, title, product_type, status, lead_time_days, royalty_rate, barcode, created_at)
   SELECT :product_id, :id, :creator_id, 1, :title, t.product_type, 'pending', t.lead_time_days, t.royalty_rate, :ean, :created_at
   FROM product_types t WHERE t.product_type = :product_type`,
);

/**
 * Adds an edition of the Creator API to the catalogue, with one pending product. While the creator's name is
 * unknown, the artist is empty; `setArtistOfEditions` sets it later. A repeated edition changes nothing.
 */
export async function createEdition(tx: Transaction, edition: EditionSnapshot): Promise<void> {
  const artistName = await findCreatorName(tx, edition.creator_id);
  const inserted = await tx.run(insertRelease, {
    ...edition,
    artist_name: artistName,
    search_text: searchText(edition.title, artistName),
  });
  if (inserted === 0) return; // a repetition
  const productType = edition.release_type_id === singleTypeId ? 'vinyl_7_single' : 'vinyl_12_lp';
  const product = { product_id: uuidv7(), product_type: productType };
  const products = await tx.run(insertProduct, { ...edition, ...product });
  // The message is retried, then dead-lettered: a release without a product could never be approved.
  if (products === 0) throw new Error(`The product type ${productType} is not loaded.`);
}
