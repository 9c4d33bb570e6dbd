/**
 * SQL: all filters except `app`, as a condition on rows of a breakdown. A filter that is null is ignored.
 * Statements on `monthly_app_breakdown`, the only table with apps, add the filter `app`.
 */
export const matchesFiltersSql = `(:release::uuid IS NULL OR release_id = :release)
     AND (:product_type::text IS NULL OR product_type = :product_type)
     AND (:country::text IS NULL OR country_code = :country) AND (:platform::text IS NULL OR platform = :platform)`;
