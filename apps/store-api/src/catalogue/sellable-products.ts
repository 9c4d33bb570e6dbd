import { type CatalogueStatus, type Currency, parsePublicId } from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';
import { type ErrorDetail, Unprocessable } from '@fulfilment/error-envelope';

/** What an order or a quote needs to know of a product. */
export interface SellableProduct {
  readonly id: string;
  readonly releaseId: string;
  readonly releaseTitle: string;
  readonly title: string;
  readonly productType: string;
  readonly ean: string | null;
  readonly status: CatalogueStatus;
  readonly weightGrams: number;
  readonly royaltyRate: number;
  readonly limitedEdition: boolean;
  /** Catalogue price in the order's currency, minor units. */
  readonly price: number | null;
}

export interface WantedItem {
  readonly sku: string;
  readonly quantity: number;
}

/** A wanted line with its product. */
export type SellableLine<Item extends WantedItem> = SellableProduct & Item;

const readSellable = statement(
  'catalogue.sellable',
  `SELECT p.id, p.release_id AS "releaseId", r.name AS "releaseTitle", p.title, p.product_type AS "productType",
          coalesce(p.barcode, r.ean) AS ean, p.status, coalesce(p.weight_grams, t.weight_grams) AS "weightGrams",
          p.royalty_rate AS "royaltyRate", p.limited_edition AS "limitedEdition",
          CASE $3 WHEN 'GBP' THEN p.price_gbp WHEN 'USD' THEN p.price_usd WHEN 'EUR' THEN p.price_eur ELSE p.price_jpy END AS price
   FROM products p
   JOIN releases r ON r.id = p.release_id
   JOIN product_types t ON t.product_type = p.product_type
   WHERE p.id = ANY($1::uuid[]) AND p.creator_id = $2`,
);

/** The creator's products behind the skus, by sku. What is another creator's is not there. */
export async function sellableProducts(
  sql: Sql,
  creatorId: string,
  items: readonly WantedItem[],
  currency: Currency,
): Promise<Map<string, SellableProduct>> {
  const skuOf = new Map(items.map(({ sku }) => [parsePublicId('prod', sku), sku]));
  const ids = [...skuOf.keys()].filter((id) => id !== undefined);
  const rows = await sql.rows<SellableProduct>(readSellable, [ids, creatorId, currency]);
  return new Map(rows.map((product) => [skuOf.get(product.id) ?? '', product]));
}

/** Each line with its product. @throws Unprocessable with one detail per line that cannot be sold */
export function refuseUnsellable<Item extends WantedItem>(
  items: readonly Item[],
  products: ReadonlyMap<string, SellableProduct>,
): SellableLine<Item>[] {
  const lines: SellableLine<Item>[] = [];
  const details: ErrorDetail[] = [];
  for (const [index, item] of items.entries()) {
    const product = products.get(item.sku);
    if (product?.status === 'available') lines.push({ ...product, ...item });
    else
      details.push({
        field: `items.${index}.sku`,
        reason: product === undefined ? 'unknown_sku' : 'not_available',
      });
  }
  if (details.length > 0) throw new Unprocessable('Some items cannot be sold.', details);
  return lines;
}
