import { maxUuid } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';

const priceIn = (currency: string): string =>
  `CASE ${currency} WHEN 'GBP' THEN price_gbp WHEN 'USD' THEN price_usd WHEN 'EUR' THEN price_eur ELSE price_jpy END`;

const summaryColumns = `r.id, r.name, r.artist_name, r.additional_artists, r.release_date, r.cover_image_url,
         (extract(epoch FROM r.created_at) * 1000000)::bigint AS created_micros, p.product_types, p.price_min, p.price_max`;

/** Aggregates the products of the release `r`. */
const productTotals = (currency: string): string => `
  SELECT array_agg(DISTINCT product_type) AS product_types,
         min(${priceIn(currency)}) FILTER (WHERE status = 'available') AS price_min,
         max(${priceIn(currency)}) FILTER (WHERE status = 'available') AS price_max
  FROM products WHERE release_id = r.id`;

const newestFirst = 'ORDER BY created_at DESC, id DESC';

/** Condition for rows after the last one of the previous page; true for all rows without one. */
const afterCursor = (micros: string, id: string): string =>
  `(created_at, id) < (coalesce('epoch'::timestamptz + ${micros} * interval '1 microsecond', 'infinity'),
                       coalesce(${id}, '${maxUuid}'))`;

/** Condition for rows created between two times, without those at the times. */
const createdBetween = (after: string, before: string): string =>
  `created_at > coalesce(${after}, '-infinity') AND created_at < coalesce(${before}, 'infinity')`;

/**
 * Reads several pages: arrays of creators, currencies, row limits, keys of the previous page, and times of
 * creation.
 */
export const listPages = statement(
  'releases.list-pages',
  `SELECT (requested.number - 1)::int AS index, ${summaryColumns}
   FROM unnest($1::uuid[], $2::text[], $3::int[], $4::bigint[], $5::uuid[], $6::timestamptz[], $7::timestamptz[])
          WITH ORDINALITY AS requested (creator, currency, max_rows, after_micros, after_id, created_after, created_before, number)
   CROSS JOIN LATERAL (
     SELECT * FROM releases WHERE creator_id = requested.creator AND ${afterCursor('requested.after_micros', 'requested.after_id')}
       AND ${createdBetween('requested.created_after', 'requested.created_before')}
     ${newestFirst} LIMIT requested.max_rows
   ) AS r
   LEFT JOIN LATERAL (${productTotals('requested.currency')}) AS p ON true
   ORDER BY requested.number, r.created_at DESC, r.id DESC`,
);

/** One page of a search. Parameters: those of a page, the pattern, and times of creation. */
const searchSql = (matches: string): string => `
  SELECT ${summaryColumns}
  FROM (${matches}) AS r
  LEFT JOIN LATERAL (${productTotals('$2')}) AS p ON true
  ORDER BY r.created_at DESC, r.id DESC`;
const pageOfMatches = `${afterCursor('$4::bigint', '$5::uuid')}
   AND ${createdBetween('$7::timestamptz', '$8::timestamptz')} ${newestFirst} LIMIT $3`;
const newestMatches = `SELECT * FROM releases WHERE creator_id = $1 AND search_text LIKE $6 AND ${pageOfMatches}`;

/** With more matches, a scan from the newest release fills a page sooner than sorting all matches. */
const maxIndexedMatches = 2000;

/** For a term without a trigram. */
export const searchByScan = statement('releases.search-by-scan', searchSql(newestMatches));

/**
 * The cheaper way depends on the term, which a prepared plan does not know. So the index counts the matches
 * first: few are sorted, many are found by a scan from the newest release.
 */
export const searchByIndex = statement(
  'releases.search-by-index',
  searchSql(`
  WITH finds AS MATERIALIZED (
    SELECT id FROM releases WHERE creator_id = $1 AND search_text LIKE $6 LIMIT ${maxIndexedMatches + 1}
  ), few AS MATERIALIZED (SELECT count(*) <= ${maxIndexedMatches} AS few FROM finds)
  (SELECT releases.* FROM releases JOIN finds USING (id)
   WHERE (SELECT few FROM few) AND ${pageOfMatches})
  UNION ALL
  (SELECT * FROM (${newestMatches}) AS walked WHERE NOT (SELECT few FROM few))`),
);

const wholeColumns =
  'id, name, artist_name, additional_artists, release_date, cover_image_url, description, copyright, created_at';
export const readRelease = statement(
  'releases.read',
  `SELECT ${wholeColumns} FROM releases WHERE creator_id = $1 AND id = $2`,
);
export const readReleases = statement(
  'releases.read-many',
  `SELECT ${wholeColumns} FROM releases WHERE id = ANY($1::uuid[])`,
);

export const readProducts = statement(
  'releases.products',
  `SELECT p.id, p.release_id, p.title, p.created_at, p.status, p.product_type, p.lead_time_days, p.weight_grams, p.barcode,
          p.glb_model, p.limited_edition, p.quantity, ${priceIn('$2')} AS price,
          coalesce((SELECT json_agg(json_build_object('position', t.position, 'title', t.title,
                      'duration_seconds', t.duration_seconds, 'side', t.side) ORDER BY t.position)
                    FROM tracks t WHERE t.product_id = p.id), '[]') AS tracks
   FROM products p WHERE p.release_id = ANY($1::uuid[]) ORDER BY p.release_id, p.position, p.id`,
);
