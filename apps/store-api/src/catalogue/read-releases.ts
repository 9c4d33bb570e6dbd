import { type Currency, type CursorPage, parsePublicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { notFound } from '@fulfilment/error-envelope';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ReleaseFacts, ReleaseSummary, ReleaseView } from './release.shapes.js';
import {
  type ProductOfReleaseRow,
  releaseFacts,
  type ReleaseRow,
  releaseSummary,
  releaseView,
} from './release.view.js';
import type { ListReleasesDto } from './releases.dto.js';
import { searchPattern } from './search.rules.js';

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

const firstPage = statement('releases.first-page', releasesSql(pageSql('')));
const nextPage = statement('releases.next-page', releasesSql(pageSql(after)));
const firstFound = statement('releases.first-found', releasesSql(pageSql('AND search_text LIKE $4')));
const nextFound = statement('releases.next-found', releasesSql(pageSql(`${after} AND search_text LIKE $6`)));
const oneRelease = statement(
  'releases.one',
  releasesSql('SELECT * FROM releases WHERE creator_id = $1 AND id = $3'),
);
const productsOf = statement(
  'releases.products',
  `SELECT p.id, p.release_id, p.title, p.created_at, p.status, p.product_type, p.lead_time_days, p.weight_grams, p.barcode,
          p.glb_model, p.limited_edition, p.quantity, ${priceIn('$2')} AS price,
          coalesce((SELECT json_agg(json_build_object('position', t.position, 'title', t.title,
                      'duration_seconds', t.duration_seconds, 'side', t.side) ORDER BY t.position)
                    FROM tracks t WHERE t.product_id = p.id), '[]') AS tracks
   FROM products p WHERE p.release_id = ANY($1::uuid[]) ORDER BY p.release_id, p.position, p.id`,
);

/** The catalogue of the connected creator, newest first. */
@Injectable()
export class ReadReleases {
  constructor(
    private readonly database: Database,
    private readonly cursors: SignedCursors,
  ) {}

  async list(
    who: Caller,
    query: ListReleasesDto,
  ): Promise<CursorPage<ReleaseSummary | (ReleaseSummary & ReleaseFacts)>> {
    const { limit, currency, format } = query;
    const boundTo = ['releases', who.creatorId, query.search];
    const rows = await this.page(who.creatorId, query, boundTo);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    return {
      data:
        format === 'summary'
          ? page.map((row) => releaseSummary(row, currency))
          : await this.detailed(page, currency),
      pagination: {
        next_cursor: hasMore
          ? this.cursors.seal(boundTo, { micros: last.created_micros, id: last.id })
          : null,
        has_more: hasMore,
      },
    };
  }

  async one(who: Caller, id: string, currency: Currency): Promise<ReleaseView> {
    const uuid = parsePublicId('prod', id) ?? notFound('release');
    const row = await this.database.row<ReleaseRow>(oneRelease, [who.creatorId, currency, uuid]);
    if (row === undefined) return notFound('release');
    return releaseView(row, await this.products([row.id], currency), currency);
  }

  private page(
    creatorId: string | undefined,
    query: ListReleasesDto,
    boundTo: (string | undefined)[],
  ): Promise<ReleaseRow[]> {
    const { currency, limit, cursor, search } = query;
    const after = cursor === undefined ? undefined : this.cursors.open(boundTo, cursor);
    const values = [creatorId, currency, limit + 1];
    const term = search?.trim() ?? '';
    if (term === '') {
      if (after === undefined) return this.database.rows<ReleaseRow>(firstPage, values);
      return this.database.rows<ReleaseRow>(nextPage, [...values, after.micros, after.id]);
    }
    const pattern = searchPattern(term);
    if (after === undefined) return this.database.rows<ReleaseRow>(firstFound, [...values, pattern]);
    return this.database.rows<ReleaseRow>(nextFound, [...values, after.micros, after.id, pattern]);
  }

  private async detailed(
    page: readonly ReleaseRow[],
    currency: Currency,
  ): Promise<(ReleaseSummary & ReleaseFacts)[]> {
    const products = Map.groupBy(
      await this.products(
        page.map(({ id }) => id),
        currency,
      ),
      (product) => product.release_id,
    );
    return page.map((row) => ({
      ...releaseSummary(row, currency),
      ...releaseFacts(row, products.get(row.id) ?? [], currency),
    }));
  }

  private products(releaseIds: readonly string[], currency: Currency): Promise<ProductOfReleaseRow[]> {
    return this.database.rows<ProductOfReleaseRow>(productsOf, [releaseIds, currency]);
  }
}
