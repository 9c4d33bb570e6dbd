import type { EditionSnapshot } from '@fulfilment/contracts';
import { uuidv7 } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { CreatorNames } from './creator-names.js';
import { searchText } from './search.rules.js';

const productTypeOfEdition: Readonly<Record<number, string>> = { 2: 'vinyl_7_single' };
const defaultProductType = 'vinyl_12_lp';

const insertRelease = statement(
  'edition.insert-release',
  `INSERT INTO releases (id, creator_id, name, artist_name, release_type_id, ean, search_text, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (id) DO NOTHING`,
);
const insertProduct = statement(
  'edition.insert-product',
  `INSERT INTO products (id, release_id, creator_id, position, title, product_type, status, lead_time_days, royalty_rate, barcode, created_at)
   SELECT $1, $2, $3, 1, $4, t.product_type, 'pending', t.lead_time_days, t.royalty_rate, $5, $7
   FROM product_types t WHERE t.product_type = $6`,
);

/**
 * Adds an edition of the Creator API to the catalogue: pending, with one pending product. The artist is set
 * when the creator is known.
 */
@Injectable()
export class CreateEdition {
  constructor(private readonly creatorNames: CreatorNames) {}

  async run(tx: Transaction, edition: EditionSnapshot): Promise<void> {
    const { id, creator_id: creatorId, title, release_type_id: typeId, ean, created_at: createdAt } = edition;
    const artistName = await this.creatorNames.find(tx, creatorId);
    const inserted = await tx.run(insertRelease, [
      id,
      creatorId,
      title,
      artistName,
      typeId,
      ean,
      searchText(title, artistName),
      createdAt,
    ]);
    if (inserted === 0) return;
    const productType = productTypeOfEdition[typeId] ?? defaultProductType;
    const products = await tx.run(insertProduct, [
      uuidv7(),
      id,
      creatorId,
      title,
      ean,
      productType,
      createdAt,
    ]);
    // The message is retried, then dead-lettered: a release without a product could never be approved.
    if (products === 0) throw new Error(`The product type ${productType} is not loaded.`);
  }
}
