import { statement } from '@fulfilment/database';

const priceIn = (currency: string): string =>
  `CASE ${currency} WHEN 'GBP' THEN price_gbp WHEN 'USD' THEN price_usd WHEN 'EUR' THEN price_eur ELSE price_jpy END`;

const summaryColumns = `r.id, r.name, r.artist_name, r.additional_artists, r.release_date, r.cover_image_url,
         (extract(epoch FROM r.created_at) * 1000000)::bigint AS created_micros, p.product_types, p.price_min, p.price_max`;

/** What the products of the release `r` add up to. */
const productsOfRelease = (currency: string): string => `
  SELECT array_agg(DISTINCT product_type) AS product_types,
         min(${priceIn(currency)}) FILTER (WHERE status = 'available') AS price_min,
         max(${priceIn(currency)}) FILTER (WHERE status = 'available') AS price_max
  FROM products WHERE release_id = r.id`;

const newestFirst = 'ORDER BY created_at DESC, id DESC';

/** What comes after the last row of the page before: all, where there was none. */
const after = (micros: string, id: string): string =>
  `(created_at, id) < (coalesce('epoch'::timestamptz + ${micros} * interval '1 microsecond', 'infinity'),
                       coalesce(${id}, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`;

/** Pages that were asked for at the same time: arrays of creators, currencies, most rows, and keys to go on after. */
export const pages = statement(
  'releases.pages',
  `SELECT (asked.number - 1)::int AS index, ${summaryColumns}
   FROM unnest($1::uuid[], $2::text[], $3::int[], $4::bigint[], $5::uuid[])
          WITH ORDINALITY AS asked (creator, currency, most, after_micros, after_id, number)
   CROSS JOIN LATERAL (
     SELECT * FROM releases WHERE creator_id = asked.creator AND ${after('asked.after_micros', 'asked.after_id')}
     ${newestFirst} LIMIT asked.most
   ) AS r
   LEFT JOIN LATERAL (${productsOfRelease('asked.currency')}) AS p ON true
   ORDER BY asked.number, r.created_at DESC, r.id DESC`,
);

/** The page of a search; the parameters are those of one page and the pattern. */
const searchSql = (which: string): string => `
  SELECT ${summaryColumns}
  FROM (${which}) AS r
  LEFT JOIN LATERAL (${productsOfRelease('$2')}) AS p ON true
  ORDER BY r.created_at DESC, r.id DESC`;
const walked = `SELECT * FROM releases WHERE creator_id = $1 AND search_text LIKE $6
   AND ${after('$4::bigint', '$5::uuid')} ${newestFirst} LIMIT $3`;

/** Above this many finds, walking from the newest release on meets a page of them sooner than sorting all. */
const manyFinds = 2000;

/** A term that the index does not know. */
export const like = statement('releases.like', searchSql(walked));

/**
 * Which of the two ways is cheaper depends on the term, which a prepared plan does not know: the index counts the finds first. Of few, it
 * has them all; of many, the list is walked as without a search.
 */
export const found = statement(
  'releases.found',
  searchSql(`
  WITH finds AS MATERIALIZED (
    SELECT id FROM releases WHERE creator_id = $1 AND search_text LIKE $6 LIMIT ${manyFinds + 1}
  ), few AS MATERIALIZED (SELECT count(*) <= ${manyFinds} AS few FROM finds)
  (SELECT releases.* FROM releases JOIN finds USING (id)
   WHERE (SELECT few FROM few) AND ${after('$4::bigint', '$5::uuid')} ${newestFirst} LIMIT $3)
  UNION ALL
  (SELECT * FROM (${walked}) AS walked WHERE NOT (SELECT few FROM few))`),
);

const wholeColumns =
  'id, name, artist_name, additional_artists, release_date, cover_image_url, description, copyright, created_at';
export const one = statement(
  'releases.one',
  `SELECT ${wholeColumns} FROM releases WHERE creator_id = $1 AND id = $2`,
);
export const wholeOf = statement(
  'releases.whole',
  `SELECT ${wholeColumns} FROM releases WHERE id = ANY($1::uuid[])`,
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
