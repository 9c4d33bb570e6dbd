import { type Currency, maxUuid } from '@fulfilment/contracts';
import { JsonRows, statement } from '@fulfilment/database';
import { productPriceSql } from '../product-row.js';

const summaryColumns = `r.id, r.name, r.artist_name, r.additional_artists, r.release_date, r.cover_image_url,
         (extract(epoch FROM r.created_at) * 1000000)::bigint AS created_micros, p.product_types, p.price_min, p.price_max`;

/** SQL that aggregates the products of the release `r`. */
const productSummarySql = (currency: string): string => `
  SELECT array_agg(DISTINCT product_type) AS product_types,
         min(${productPriceSql(currency)}) FILTER (WHERE status = 'available') AS price_min,
         max(${productPriceSql(currency)}) FILTER (WHERE status = 'available') AS price_max
  FROM products p WHERE release_id = r.id`;

const newestFirst = 'ORDER BY created_at DESC, id DESC';

/**
 * SQL condition for rows after the last row of the previous page; for all rows if the parameters are null.
 */
const afterCursorSql = (micros: string, id: string): string =>
  `(created_at, id) < (coalesce('epoch'::timestamptz + ${micros} * interval '1 microsecond', 'infinity'),
                       coalesce(${id}, '${maxUuid}'))`;

/** SQL condition for rows created between two times, exclusive. A time that is null is no limit. */
const createdBetweenSql = (after: string, before: string): string =>
  `created_at > coalesce(${after}, '-infinity') AND created_at < coalesce(${before}, 'infinity')`;

/** The parameters of a page of releases, newest first. */
export interface PageRequest {
  readonly creator_id: string | undefined;
  readonly currency: Currency;
  readonly max_rows: number;
  readonly after_micros: number | undefined;
  readonly after_id: string | undefined;
  readonly created_after: string | undefined;
  readonly created_before: string | undefined;
}

/** The parameters of `listPages`: a row for each requested page. */
export const requestedPages = new JsonRows<PageRequest>('requested', {
  creator_id: 'uuid',
  currency: 'text',
  max_rows: 'int',
  after_micros: 'bigint',
  after_id: 'uuid',
  created_after: 'timestamptz',
  created_before: 'timestamptz',
});
/** Reads several pages. */
export const listPages = statement(
  'releases.list-pages',
  `SELECT requested.index, ${summaryColumns}
   FROM ${requestedPages.table()}
   CROSS JOIN LATERAL (
     SELECT * FROM releases WHERE creator_id = requested.creator_id AND ${afterCursorSql('requested.after_micros', 'requested.after_id')}
       AND ${createdBetweenSql('requested.created_after', 'requested.created_before')}
     ${newestFirst} LIMIT requested.max_rows
   ) AS r
   LEFT JOIN LATERAL (${productSummarySql('requested.currency')}) AS p ON true
   ORDER BY requested.index, r.created_at DESC, r.id DESC`,
);

/** SQL of one page of a search. @param matches SQL of the rows of the page */
const searchSql = (matches: string): string => `
  SELECT ${summaryColumns}
  FROM (${matches}) AS r
  LEFT JOIN LATERAL (${productSummarySql(':currency')}) AS p ON true
  ORDER BY r.created_at DESC, r.id DESC`;
/** SQL that ends the WHERE clause and the query of a search: only the rows of the page, newest first. */
const endOfSearchSql = `${afterCursorSql(':after_micros::bigint', ':after_id::uuid')}
   AND ${createdBetweenSql(':created_after::timestamptz', ':created_before::timestamptz')} ${newestFirst} LIMIT :max_rows`;
const newestMatches = `SELECT * FROM releases WHERE creator_id = :creator_id AND search_text LIKE :pattern AND ${endOfSearchSql}`;

/** Maximum number of matches to sort: with more, a scan from the newest release on is faster. */
const maxIndexedMatches = 2000;

/**
 * Searches for a term without three consecutive letters or digits, for which the trigram index cannot be
 * used.
 */
export const searchByScan = statement('releases.search-by-scan', searchSql(newestMatches));

/**
 * The faster plan depends on the search term, which the planner of a prepared statement does not know. So the
 * statement counts the matches by the index first: it sorts few matches, and finds the newest of many by a
 * scan.
 */
export const searchByIndex = statement(
  'releases.search-by-index',
  searchSql(`
  WITH matches AS MATERIALIZED (
    SELECT id FROM releases WHERE creator_id = :creator_id AND search_text LIKE :pattern LIMIT ${maxIndexedMatches + 1}
  ), match_size AS MATERIALIZED (SELECT count(*) <= ${maxIndexedMatches} AS is_small FROM matches)
  (SELECT releases.* FROM releases JOIN matches USING (id)
   WHERE (SELECT is_small FROM match_size) AND ${endOfSearchSql})
  UNION ALL
  (SELECT * FROM (${newestMatches}) AS newest WHERE NOT (SELECT is_small FROM match_size))`),
);

const wholeColumns =
  'id, name, artist_name, additional_artists, release_date, cover_image_url, description, copyright, created_at';
export const readRelease = statement(
  'releases.read',
  `SELECT ${wholeColumns} FROM releases WHERE creator_id = $1 AND id = $2`,
);
/** Without a condition for the creator, because the ids come from a page of the creator. */
export const readReleases = statement(
  'releases.read-many',
  `SELECT ${wholeColumns} FROM releases WHERE id = ANY($1::uuid[])`,
);

export const readProducts = statement(
  'releases.products',
  `SELECT p.id, p.release_id, p.title, p.created_at, p.status, p.product_type, p.lead_time_days, p.weight_grams, p.barcode,
          p.glb_model, p.limited_edition, p.quantity, ${productPriceSql('$2')} AS price,
          coalesce((SELECT json_agg(json_build_object('position', t.position, 'title', t.title,
                      'duration_seconds', t.duration_seconds, 'side', t.side) ORDER BY t.position)
                    FROM tracks t WHERE t.product_id = p.id), '[]') AS tracks
   FROM products p WHERE p.release_id = ANY($1::uuid[]) ORDER BY p.release_id, p.position, p.id`,
);
