import { type CatalogueStatus, type Currency, parsePublicId } from '@fulfilment/contracts';
import { BatchLoader, Database, JsonRows, statement } from '@fulfilment/database';
import { type ErrorDetail, Unprocessable } from '@fulfilment/error-envelope';
import { Injectable } from '@nestjs/common';
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

interface ProductKey {
  readonly product_id: string;
  readonly creator_id: string;
  readonly currency: Currency;
}

const requested = new JsonRows<ProductKey>('requested', {
  product_id: 'uuid',
  creator_id: 'uuid',
  currency: 'text',
});
// LIMIT keeps PostgreSQL from turning the subquery into a join (`JsonRows`).
export const readSellable = statement(
  'catalogue.sellable',
  `SELECT requested.index, product.* FROM ${requested.table()} CROSS JOIN LATERAL (
     SELECT ${sellableColumns('requested.currency')} FROM ${sellableTables}
     WHERE p.id = requested.product_id AND p.creator_id = requested.creator_id LIMIT 1) AS product`,
);

/** Reads products for quotes. Concurrent reads share a round trip. */
@Injectable()
export class SellableProducts {
  private readonly products: BatchLoader<ProductKey, SellableProduct>;

  constructor(private readonly database: Database) {
    this.products = new BatchLoader({ run: (keys) => this.loadBatch(keys), maxConcurrent: 2 });
  }

  /** Returns the creator's products by sku. Products of other creators are left out. */
  async readBySku(
    creatorId: string,
    items: readonly RequestedItem[],
    currency: Currency,
  ): Promise<Map<string, SellableProduct>> {
    const found = new Map<string, SellableProduct>();
    const skus = new Set(items.map(({ sku }) => sku));
    await Promise.all(
      [...skus].map(async (sku) => {
        const id = parsePublicId('prod', sku);
        if (id === undefined) return;
        const key = { product_id: id, creator_id: creatorId, currency };
        const product = await this.products.load(key);
        if (product !== undefined) found.set(sku, product);
      }),
    );
    return found;
  }

  private async loadBatch(keys: readonly ProductKey[]): Promise<{ index: number; row: SellableProduct }[]> {
    const values = requested.values(keys);
    const rows = await this.database.rows<SellableProduct & { readonly index: number }>(readSellable, values);
    return rows.map(({ index, ...row }) => ({ index, row }));
  }
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
