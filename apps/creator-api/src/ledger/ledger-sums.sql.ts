/** Columns of the primary key of `monthly_statistics`, in the order in which rows are locked. */
export const monthKey = 'creator_id, period, currency, release_id, ean';
/** Columns of the primary key of `monthly_breakdown`, in the order in which rows are locked. */
export const breakdownKey = 'creator_id, currency, period, release_id, product_type, country_code, platform';
/** Columns of the primary key of `monthly_app_breakdown`, in the order in which rows are locked. */
export const appBreakdownKey =
  'creator_id, currency, client_id, period, release_id, product_type, country_code, platform';

/**
 * SQL: rows of the ledger with the columns of all keys. `product_type`, `country_code`, `platform` and
 * `client_id` are '' if unknown.
 * @param condition on the row `l` of the ledger
 */
export function selectPostingsSql(condition: string): string {
  return `SELECT l.creator_id, l.settlement_currency AS currency, l.period, l.release_id, l.ean, COALESCE(i.product_type, '') AS product_type,
       COALESCE(o.country_code, '') AS country_code, COALESCE(o.platform, '') AS platform, COALESCE(o.client_id, '') AS client_id,
       l.units, l.settled_revenue, l.settled_royalty
     FROM ledger l LEFT JOIN orders o ON o.id = l.order_id LEFT JOIN order_items i ON i.id = l.item_id
     WHERE ${condition}`;
}

/** SQL: selects the columns of a key and the sums of `selectPostingsSql`. Needs GROUP BY with that key. */
export function sumsBySql(key: string): string {
  return `${key}, sum(units) AS units, sum(settled_revenue) AS revenue, sum(settled_royalty) AS royalties`;
}
