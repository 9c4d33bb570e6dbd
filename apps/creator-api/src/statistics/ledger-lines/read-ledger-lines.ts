import { maxUuid, publicId } from '@fulfilment/contracts';
import { type Statement, statement } from '@fulfilment/database';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { LedgerRow } from '../../ledger/ledger-row.js';
import { selectCreator } from '../../visibility/select-creator.js';
import { Visibility } from '../../visibility/visibility.js';
import { matchesFiltersSql } from '../breakdown-filters.sql.js';
import { exactSums, type SumsRow } from '../exact-sums.js';
import type { LedgerLinesView } from './ledger-lines.shapes.js';
import type { BreakdownFilters, LedgerLinesQuery } from '../statistics.dto.js';

const sums = `COALESCE(sum(units), 0)::text AS units, COALESCE(sum(revenue), 0)::text AS revenue, COALESCE(sum(royalties), 0)::text AS royalties`;
const matchesMonthSql = 'creator_id = :creator AND currency = :currency AND period = :period';
// Reads the stored sums and does not add up the lines, so that a client can compare the lines with them.
const readTotals = statement(
  'ledger-lines.totals',
  `SELECT ${sums} FROM monthly_statistics WHERE ${matchesMonthSql} AND (:release::uuid IS NULL OR release_id = :release)`,
);
const readFilteredTotals = statement(
  'ledger-lines.filtered-totals',
  `SELECT ${sums} FROM monthly_breakdown WHERE ${matchesMonthSql} AND ${matchesFiltersSql}`,
);
const readTotalsOfApp = statement(
  'ledger-lines.totals-of-app',
  `SELECT ${sums} FROM monthly_app_breakdown WHERE ${matchesMonthSql} AND ${matchesFiltersSql} AND client_id = :app`,
);
// LEAST, not COALESCE, as in export-orders.ts.
export const readLines = statement(
  'ledger-lines.page',
  `SELECT l.kind, l.order_id, l.item_id, l.occurred_at, (extract(epoch FROM l.occurred_at) * 1000000)::bigint AS occurred_at_micros, l.release_id, l.ean,
     i.product_type, o.country_code, o.platform, o.client_id, l.units, i.royalty_rate, l.currency, l.revenue::text, l.vat::text, l.royalty::text,
     l.settlement_currency, l.settled_revenue::text, l.settled_vat::text, l.settled_royalty::text,
     l.rate_date, l.rate_from::text, l.rate_to::text
   FROM ledger l LEFT JOIN orders o ON o.id = l.order_id LEFT JOIN order_items i ON i.id = l.item_id
   WHERE l.creator_id = :creator AND l.settlement_currency = :currency AND l.period = :period
     AND (:release::uuid IS NULL OR l.release_id = :release) AND (:product_type::text IS NULL OR i.product_type = :product_type)
     AND (:country::text IS NULL OR o.country_code = :country) AND (:platform::text IS NULL OR o.platform = :platform)
     AND (:app::text IS NULL OR o.client_id = :app)
     AND (l.occurred_at, l.item_id, l.kind) < (LEAST('epoch'::timestamptz + :micros::bigint * interval '1 microsecond', 'infinity'),
       LEAST(:item::uuid, '${maxUuid}'), LEAST(:kind::text, 'sale'))
   ORDER BY l.occurred_at DESC, l.item_id DESC, l.kind DESC LIMIT :limit`,
);

interface LineRow extends LedgerRow {
  readonly product_type: string | null;
  readonly country_code: string | null;
  readonly platform: string | null;
  readonly client_id: string | null;
  readonly royalty_rate: number | null;
  readonly rate_date: string | null;
  readonly rate_from: string | null;
  readonly rate_to: string | null;
}

/** Returns the postings of a month and their totals, from one snapshot. */
@Injectable()
export class ReadLedgerLines {
  constructor(
    private readonly visibility: Visibility,
    private readonly cursors: SignedCursors,
  ) {}

  /** @throws NotFound when the creator is not visible; ValidationFailed on the cursor of another list */
  run(caller: Caller, creatorId: string, query: LedgerLinesQuery): Promise<LedgerLinesView> {
    const { period, release, product_type, country, platform, app, limit } = query;
    const filters = { release, product_type, country, platform, app };
    const boundTo = ['ledger', creatorId, period, ...Object.values(filters)];
    const after = query.cursor === undefined ? undefined : this.cursors.open(boundTo, query.cursor);
    const [item, kind] = after?.id.split('/') ?? [];
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      const { currency } = await selectCreator(tx, creatorId);
      const values = { creator: creatorId, currency, period, ...filters };
      const [totals, rows] = await Promise.all([
        tx.row<SumsRow>(totalsStatement(filters), values),
        tx.rows<LineRow>(readLines, { ...values, micros: after?.micros, item, kind, limit: limit + 1 }),
      ]);
      const { page, pagination } = this.cursors.page(rows, limit, boundTo, (row) => ({
        micros: row.occurred_at_micros,
        id: `${row.item_id}/${row.kind}`,
      }));
      return {
        period,
        currency,
        totals: exactSums(totals),
        data: page.map(lineView),
        pagination,
      };
    });
  }
}

/** `monthly_statistics` can be filtered by release only; the other filters need a breakdown. */
function totalsStatement({ release: _, ...otherFilters }: BreakdownFilters): Statement {
  if (otherFilters.app !== undefined) return readTotalsOfApp;
  const isFiltered = Object.values(otherFilters).some((value) => value !== undefined);
  return isFiltered ? readFilteredTotals : readTotals;
}

function lineView(row: LineRow): LedgerLinesView['data'][number] {
  const { rate_date: date, rate_from: from, rate_to: to } = row;
  return {
    kind: row.kind,
    order: row.order_id,
    human_order_id: publicId('ord', row.order_id),
    item: row.item_id,
    occurred_at: row.occurred_at.toISOString(),
    release_group: row.release_id,
    ean: row.ean,
    product_type: row.product_type,
    country: row.country_code,
    platform: row.platform,
    app: row.client_id,
    units: row.units,
    royalty_rate: row.royalty_rate,
    original: {
      currency: row.currency,
      revenue: BigInt(row.revenue),
      vat: BigInt(row.vat),
      royalty: BigInt(row.royalty),
    },
    settled: {
      currency: row.settlement_currency,
      revenue: BigInt(row.settled_revenue),
      vat: BigInt(row.settled_vat),
      royalty: BigInt(row.settled_royalty),
    },
    exchange_rate: date === null || from === null || to === null ? null : { date, from, to },
  };
}
