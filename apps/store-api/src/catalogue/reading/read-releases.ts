import { type Currency, type CursorPage, parsePublicId, visibleCharacter } from '@fulfilment/contracts';
import { BatchLoader, Database, ReadDatabase, type Sql } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ReleaseDetails, ReleaseSummary, ReleaseView } from '../release.shapes.js';
import {
  listPages,
  type PageRequest,
  requestedPages,
  readProducts,
  readRelease,
  readReleases,
  searchByIndex,
  searchByScan,
} from './release-statements.js';
import {
  type ProductOfReleaseRow,
  releaseDetails,
  releaseSummary,
  type ReleaseSummaryRow,
  releaseView,
  type WholeReleaseRow,
} from './release.view.js';
import type { ListReleasesDto } from '../releases.dto.js';
import { hasTrigram, searchPattern } from '../search.rules.js';

/**
 * Reads the releases of the connected creator, newest first. Concurrent pages share a round trip, except
 * pages of a search.
 */
@Injectable()
export class ReadReleases {
  private readonly pages: BatchLoader<PageRequest, ReleaseSummaryRow[]>;

  constructor(
    private readonly database: Database,
    private readonly reads: ReadDatabase,
    private readonly cursors: SignedCursors,
  ) {
    this.pages = new BatchLoader({ run: (requests) => this.loadPages(requests), maxConcurrent: 2 });
  }

  async list(
    caller: Caller,
    query: ListReleasesDto,
  ): Promise<CursorPage<ReleaseSummary | (ReleaseSummary & ReleaseDetails)>> {
    const { limit, currency, format } = query;
    const times = [query.created_after, query.created_before];
    // Only cursors of lists with time filters are bound to them, so that cursors which clients got before
    // these filters existed stay valid.
    const boundTimes = times.some((time) => time !== undefined) ? times : [];
    const boundTo = ['releases', caller.creatorId, query.search, ...boundTimes];
    const rows = await this.readPageRows(caller.creatorId, query, boundTo);
    const { page, pagination } = this.cursors.page(rows, limit, boundTo, (row) => ({
      micros: row.created_micros,
      id: row.id,
    }));
    return {
      data:
        format === 'summary'
          ? page.map((row) => releaseSummary(row, currency))
          : await this.addDetails(page, currency),
      pagination,
    };
  }

  async read(caller: Caller, id: string, currency: Currency): Promise<ReleaseView> {
    const uuid = parsePublicId('prod', id) ?? throwNotFound('release');
    const row = await this.database.row<WholeReleaseRow>(readRelease, [caller.creatorId, uuid]);
    if (row === undefined) return throwNotFound('release');
    return releaseView(row, await readProductsOf(this.database, [uuid], currency), currency);
  }

  /** Reads one row more than the page has, which shows whether there is a next page. */
  private async readPageRows(
    creatorId: string | undefined,
    { currency, limit, cursor, search, created_after, created_before }: ListReleasesDto,
    boundTo: readonly (string | undefined)[],
  ): Promise<ReleaseSummaryRow[]> {
    const after = cursor === undefined ? undefined : this.cursors.open(boundTo, cursor);
    const page = {
      creator_id: creatorId,
      currency,
      max_rows: limit + 1,
      after_micros: after?.micros,
      after_id: after?.id,
      created_after,
      created_before,
    };
    const term = search?.trim() ?? '';
    if (!visibleCharacter.test(term)) return (await this.pages.load(page)) ?? [];
    return this.reads.read((database) =>
      database.rows<ReleaseSummaryRow>(hasTrigram(term) ? searchByIndex : searchByScan, {
        ...page,
        pattern: searchPattern(term),
      }),
    );
  }

  private async loadPages(
    requests: readonly PageRequest[],
  ): Promise<{ index: number; row: ReleaseSummaryRow[] }[]> {
    const rows = await this.reads.read((database) =>
      database.rows<ReleaseSummaryRow & { readonly index: number }>(
        listPages,
        requestedPages.values(requests),
      ),
    );
    // The loader expects one `row` per request; here it is the list of all rows of the page.
    return [...Map.groupBy(rows, ({ index }) => index)].map(([index, page]) => ({ index, row: page }));
  }

  private async addDetails(
    page: readonly ReleaseSummaryRow[],
    currency: Currency,
  ): Promise<(ReleaseSummary & ReleaseDetails)[]> {
    const ids = page.map(({ id }) => id);
    const [releases, products] = await this.reads.read((database) =>
      Promise.all([
        database.rows<WholeReleaseRow>(readReleases, [ids]),
        readProductsOf(database, ids, currency),
      ]),
    );
    const wholeById = new Map(releases.map((row) => [row.id, row]));
    const productsById = Map.groupBy(products, (product) => product.release_id);
    return page.flatMap((row) => {
      const whole = wholeById.get(row.id);
      // If the page came from the read replica and the details from the primary, a new release may be
      // missing: the replica may show a commit shortly before the primary does.
      if (whole === undefined) return [];
      return {
        ...releaseSummary(row, currency),
        ...releaseDetails(whole, productsById.get(row.id) ?? [], currency),
      };
    });
  }
}

function readProductsOf(
  sql: Sql,
  releaseIds: readonly string[],
  currency: Currency,
): Promise<ProductOfReleaseRow[]> {
  return sql.rows<ProductOfReleaseRow>(readProducts, [releaseIds, currency]);
}
