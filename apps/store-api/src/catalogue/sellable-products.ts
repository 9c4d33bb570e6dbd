import { type CatalogueStatus, type Currency, parsePublicId, publicId } from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';
import { type ErrorDetail, Unprocessable } from '@fulfilment/error-envelope';
import { productPriceSql } from './product-row.js';

/** The data of a product that orders and quotes need. */
export interface SellableProduct {
  readonly id: string;
  readonly releaseId: string;
  readonly releaseTitle: string;
  readonly title: string;
  readonly productType: string;
  readonly ean: string | null;
  readonly status: CatalogueStatus;
  readonly weightGrams: number;
  readonly leadTimeDays: number;
  /** In basis points. */
  readonly royaltyRate: number;
  readonly limitedEdition: boolean;
  /** Pieces of a limited edition at the time of reading, else null. */
  readonly stock: number | null;
  /** Catalogue price in minor units of the requested currency; null until the product is approved. */
  readonly price: number | null;
}

export interface RequestedItem {
  readonly sku: string;
  readonly quantity: number;
}

/** A requested line with its product, which has a price. */
export type SellableLine<Item extends RequestedItem> = SellableProduct & Item & { readonly price: number };

/** SQL for the members of `SellableProduct`, from `sellableTables`. @param currency SQL expression */
export const sellableColumns = (
  currency: string,
): string => `p.id, p.release_id AS "releaseId", r.name AS "releaseTitle",
   p.title, p.product_type AS "productType", coalesce(p.barcode, r.ean) AS ean, p.status,
   coalesce(p.weight_grams, t.weight_grams) AS "weightGrams", p.lead_time_days AS "leadTimeDays", p.royalty_rate AS "royaltyRate",
   p.limited_edition AS "limitedEdition", p.quantity AS stock,
   ${productPriceSql(currency)} AS price`;
export const sellableTables =
  'products p JOIN releases r ON r.id = p.release_id JOIN product_types t ON t.product_type = p.product_type';

const readSellable = statement(
  'catalogue.sellable',
  `SELECT ${sellableColumns('$3::text')} FROM ${sellableTables} WHERE p.id = ANY($1::uuid[]) AND p.creator_id = $2`,
);

/** Returns the ids of the products with these skus. Invalid skus are left out. */
export function productIdsOf(items: readonly { readonly sku: string }[]): string[] {
  return [...new Set(items.flatMap(({ sku }) => parsePublicId('prod', sku) ?? []))];
}

export function bySku(products: readonly SellableProduct[]): Map<string, SellableProduct> {
  return new Map(products.map((product) => [publicId('prod', product.id), product]));
}

/** Returns the creator's products of the items by sku. Products of other creators are left out. */
export async function readSellableProducts(
  sql: Sql,
  creatorId: string,
  items: readonly RequestedItem[],
  currency: Currency,
): Promise<Map<string, SellableProduct>> {
  return bySku(await sql.rows<SellableProduct>(readSellable, [productIdsOf(items), creatorId, currency]));
}

/**
 * Returns each line with its product.
 * @param checkStock whether to reject lines with too few pieces in stock. Writing the order rejects them too,
 *   but its error names only those lines; this error names all lines that cannot be sold
 * @throws Unprocessable with one detail per line that cannot be sold
 */
export function requireSellableLines<Item extends RequestedItem>(
  items: readonly Item[],
  products: ReadonlyMap<string, SellableProduct>,
  { checkStock }: { readonly checkStock: boolean },
): SellableLine<Item>[] {
  const piecesBySku = new Map<string, number>();
  for (const { sku, quantity } of items) piecesBySku.set(sku, (piecesBySku.get(sku) ?? 0) + quantity);
  const lines: SellableLine<Item>[] = [];
  const details: ErrorDetail[] = [];
  for (const [index, item] of items.entries()) {
    const product = products.get(item.sku);
    const field = `items.${index}.sku`;
    if (product === undefined) details.push({ field, reason: 'unknown_sku' });
    else if (product.status !== 'available' || product.price === null)
      details.push({ field, reason: 'not_available' });
    else if (checkStock && product.stock !== null && product.stock < (piecesBySku.get(item.sku) ?? 0))
      details.push({ field, reason: 'insufficient_stock' });
    else lines.push({ ...product, ...item, price: product.price });
  }
  if (details.length > 0) throw new Unprocessable('Some items cannot be ordered.', details);
  return lines;
}
