import { type Currency, type CursorPage, parsePublicId } from '@fulfilment/contracts';
import { Database } from '@fulfilment/database';
import { notFound } from '@fulfilment/error-envelope';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ReleaseFacts, ReleaseSummary, ReleaseView } from './release.shapes.js';
import {
  firstFound,
  firstLike,
  firstPage,
  nextFound,
  nextLike,
  nextPage,
  oneRelease,
  productsOf,
} from './release-pages.js';
import {
  type ProductOfReleaseRow,
  releaseFacts,
  type ReleaseRow,
  releaseSummary,
  releaseView,
} from './release.view.js';
import type { ListReleasesDto } from './releases.dto.js';
import { hasTrigram, searchPattern } from './search.rules.js';

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
    const [first, next] = hasTrigram(term) ? [firstFound, nextFound] : [firstLike, nextLike];
    if (after === undefined) return this.database.rows<ReleaseRow>(first, [...values, pattern]);
    return this.database.rows<ReleaseRow>(next, [...values, after.micros, after.id, pattern]);
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
