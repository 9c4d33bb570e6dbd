import type { CatalogueStatus, ProductSnapshot } from '@fulfilment/contracts';

/** A product as `productColumns` reads it: the columns that messages contain. */
export interface ProductRow {
  id: string;
  version: number;
  release_id: string;
  creator_id: string;
  title: string;
  product_type: string;
  barcode: string | null;
  status: CatalogueStatus;
  limited_edition: boolean;
  quantity: number | null;
  updated_at: Date;
}

export const productColumns =
  'id, version, release_id, creator_id, title, product_type, barcode, status, limited_edition, quantity, updated_at';

/**
 * SQL for the price of the product `p`; null if it has none in the currency.
 * @param currency SQL expression
 */
export const productPriceSql = (currency: string): string =>
  `CASE ${currency} WHEN 'GBP' THEN p.price_gbp WHEN 'USD' THEN p.price_usd WHEN 'EUR' THEN p.price_eur WHEN 'JPY' THEN p.price_jpy END`;

/** Returns the product as messages contain it. */
export function productSnapshot({ barcode, updated_at, ...row }: ProductRow): ProductSnapshot {
  return { ...row, ean: barcode, updated_at: updated_at.toISOString() };
}
