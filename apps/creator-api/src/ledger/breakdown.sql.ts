/** Columns of the key of `monthly_breakdown`, in the order in which rows are locked. */
export const breakdownKey = 'creator_id, currency, period, release_id, product_type, country_code, platform';

/**
 * SQL: rows of the ledger summed by the key of `monthly_breakdown`. An order or line that is not known (any
 * more) has empty values.
 * @param condition on the row `l` of the ledger
 */
export function ledgerBreakdown(condition: string): string {
  return `SELECT l.creator_id, l.settlement_currency AS currency, l.period, l.release_id, COALESCE(i.product_type, '') AS product_type,
       COALESCE(o.country_code, '') AS country_code, COALESCE(o.platform, '') AS platform,
       sum(l.units) AS units, sum(l.settled_revenue) AS revenue, sum(l.settled_royalty) AS royalties
     FROM ledger l LEFT JOIN orders o ON o.id = l.order_id LEFT JOIN order_items i ON i.id = l.item_id
     WHERE ${condition}
     GROUP BY 1, 2, 3, 4, 5, 6, 7`;
}
