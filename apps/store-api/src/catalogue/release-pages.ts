import { statement } from '@fulfilment/database';

const priceIn = (parameter: string): string =>
  `CASE ${parameter} WHEN 'GBP' THEN price_gbp WHEN 'USD' THEN price_usd WHEN 'EUR' THEN price_eur ELSE price_jpy END`;

/** Releases with what their products add up to. @param which picks and limits the releases, newest first */
const releasesSql = (which: string): string => `
  SELECT r.id, r.name, r.artist_name, r.additional_artists, r.release_date, r.description, r.cover_image_url, r.copyright,
         r.created_at, (extract(epoch FROM r.created_at) * 1000000)::bigint AS created_micros,
         p.product_types, p.statuses, p.price_min, p.price_max
  FROM (${which}) AS r
  LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT product_type) AS product_types, array_agg(DISTINCT status) AS statuses,
           min(${priceIn('$2')}) FILTER (WHERE status = 'available') AS price_min,
           max(${priceIn('$2')}) FILTER (WHERE status = 'available') AS price_max
    FROM products WHERE release_id = r.id
  ) AS p ON true
  ORDER BY r.created_at DESC, r.id DESC`;

const pageSql = (condition: string): string => `
  SELECT * FROM releases WHERE creator_id = $1 ${condition}
  ORDER BY created_at DESC, id DESC LIMIT $3`;

const after = `AND (created_at, id) < ('epoch'::timestamptz + $4::bigint * interval '1 microsecond', $5::uuid)`;

/** Above this many finds, walking from the newest release on meets a page of them sooner than sorting all. */
const manyFinds = 2000;

/**
 * The page of a search. Which of the two ways is cheaper depends on the term, which a prepared plan does not know: the index counts the finds
 * first. Of few, it has them all; of many, the list is walked as without a search.
 */
const foundSql = (condition: string, pattern: string): string => `
  WITH finds AS MATERIALIZED (
    SELECT id FROM releases WHERE creator_id = $1 AND search_text LIKE ${pattern} LIMIT ${manyFinds + 1}
  ), few AS MATERIALIZED (SELECT count(*) <= ${manyFinds} AS few FROM finds)
  (SELECT releases.* FROM releases JOIN finds USING (id)
   WHERE (SELECT few FROM few) ${condition} ORDER BY created_at DESC, id DESC LIMIT $3)
  UNION ALL
  (SELECT * FROM releases WHERE NOT (SELECT few FROM few) AND creator_id = $1 AND search_text LIKE ${pattern} ${condition}
   ORDER BY created_at DESC, id DESC LIMIT $3)`;

export const firstPage = statement('releases.first-page', releasesSql(pageSql('')));
export const nextPage = statement('releases.next-page', releasesSql(pageSql(after)));
export const firstLike = statement('releases.first-like', releasesSql(pageSql('AND search_text LIKE $4')));
export const nextLike = statement(
  'releases.next-like',
  releasesSql(pageSql(`${after} AND search_text LIKE $6`)),
);
export const firstFound = statement('releases.first-found', releasesSql(foundSql('', '$4')));
export const nextFound = statement('releases.next-found', releasesSql(foundSql(after, '$6')));
export const oneRelease = statement(
  'releases.one',
  releasesSql('SELECT * FROM releases WHERE creator_id = $1 AND id = $3'),
);
export const productsOf = statement(
  'releases.products',
  `SELECT p.id, p.release_id, p.title, p.created_at, p.status, p.product_type, p.lead_time_days, p.weight_grams, p.barcode,
          p.glb_model, p.limited_edition, p.quantity, ${priceIn('$2')} AS price,
          coalesce((SELECT json_agg(json_build_object('position', t.position, 'title', t.title,
                      'duration_seconds', t.duration_seconds, 'side', t.side) ORDER BY t.position)
                    FROM tracks t WHERE t.product_id = p.id), '[]') AS tracks
   FROM products p WHERE p.release_id = ANY($1::uuid[]) ORDER BY p.release_id, p.position, p.id`,
);
