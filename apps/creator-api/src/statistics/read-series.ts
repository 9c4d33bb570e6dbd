import { type Statement, statement } from '@fulfilment/database';
import { ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import { maxMonths, monthRange, monthsOf } from './months.rules.js';
import type { SeriesQuery } from './series.dto.js';
import { type Dimension, maxGroups, type SeriesView } from './series.shapes.js';
import { type GroupRow, type MonthRow, seriesView } from './series.view.js';

const sums = 'sum(units)::text AS units, sum(revenue)::text AS revenue, sum(royalties)::text AS royalties';
const inRange = 'creator_id = $1 AND currency = $2 AND period BETWEEN $3 AND $4';
const isWanted = `${inRange} AND ($5::uuid IS NULL OR release_id = $5) AND ($6::text IS NULL OR product_type = $6)
     AND ($7::text IS NULL OR country_code = $7) AND ($8::text IS NULL OR platform = $8)`;

// The same sums that the statistics of a month have.
const readMonths = statement(
  'series.months',
  `SELECT period, ${sums} FROM monthly_statistics WHERE ${inRange} GROUP BY period`,
);
const readFilteredMonths = statement(
  'series.filtered_months',
  `SELECT period, ${sums} FROM monthly_breakdown WHERE ${isWanted} GROUP BY period`,
);

const columns = {
  release: 'release_id::text',
  product_type: 'product_type',
  country: 'country_code',
  platform: 'platform',
} as const satisfies Record<Dimension, string>;
const groups = (name: string, key: string, from: string): Statement =>
  statement(
    name,
    `WITH cells AS MATERIALIZED (
       SELECT ${key} AS key, period, sum(units) AS units, sum(revenue) AS revenue, sum(royalties) AS royalties
       FROM ${from} AND ${key} <> '' GROUP BY 1, 2
     ), highest AS (
       SELECT key, sum(revenue) AS total FROM cells GROUP BY key ORDER BY total DESC, key LIMIT ${maxGroups}
     )
     SELECT key, period, units::text, revenue::text, royalties::text FROM highest JOIN cells USING (key)
     ORDER BY total DESC, key, period`,
  );
const groupsBy = (dimension: Dimension): Statement =>
  groups(`series.by_${dimension}`, columns[dimension], `monthly_breakdown WHERE ${isWanted}`);
// Without filters, the sums of months know the releases: far fewer rows.
const readReleases = groups('series.releases', columns.release, `monthly_statistics WHERE ${inRange}`);
const readGroups: Readonly<Record<Dimension, Statement>> = {
  release: groupsBy('release'),
  product_type: groupsBy('product_type'),
  country: groupsBy('country'),
  platform: groupsBy('platform'),
};

/** Returns a creator's sales and royalties of several months, from sums that are updated with the ledger. */
@Injectable()
export class ReadSeries {
  constructor(
    private readonly visibility: Visibility,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @throws NotFound when the creator is not visible to the caller
   * @throws ValidationFailed when the range is empty or too long
   */
  async run(caller: Caller, creatorId: string, query: SeriesQuery): Promise<SeriesView> {
    const range = monthRange(query.from, query.to, this.clock());
    const months = monthsOf(range);
    if (months.length === 0) throw new ValidationFailed([{ field: 'from', reason: 'must not be after to' }]);
    if (months.length > maxMonths) {
      const reason = `must be at most ${maxMonths - 1} months before to`;
      throw new ValidationFailed([{ field: 'from', reason }]);
    }
    const { group_by, release, product_type, country, platform } = query;
    const filters = [release, product_type, country, platform].map((value) => value ?? null);
    const isFiltered = filters.some((value) => value !== null);
    return this.visibility.replicaSnapshot(caller, async (tx) => {
      const { currency } = await selectCreator(tx, creatorId);
      const values = [creatorId, currency, range.from, range.to];
      const [rows, groups] = await Promise.all([
        isFiltered
          ? tx.rows<MonthRow>(readFilteredMonths, [...values, ...filters])
          : tx.rows<MonthRow>(readMonths, values),
        group_by &&
          (isFiltered || group_by !== 'release'
            ? tx.rows<GroupRow>(readGroups[group_by], [...values, ...filters])
            : tx.rows<GroupRow>(readReleases, values)),
      ]);
      return seriesView(months, currency, rows, groups);
    });
  }
}
