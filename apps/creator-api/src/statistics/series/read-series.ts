import { type Statement, statement } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { selectCreator } from '../../visibility/select-creator.js';
import { Visibility } from '../../visibility/visibility.js';
import { matchesFiltersSql } from '../breakdown-filters.sql.js';
import { requestedMonths } from '../months.rules.js';
import { type Dimension, maxGroups, type SeriesView } from './series.shapes.js';
import { type GroupRow, type MonthRow, seriesView } from './series.view.js';
import type { BreakdownFilters, SeriesQuery } from '../statistics.dto.js';

const sums = 'sum(units)::text AS units, sum(revenue)::text AS revenue, sum(royalties)::text AS royalties';
const matchesRangeSql = 'creator_id = :creator AND currency = :currency AND period BETWEEN :from AND :to';

// FROM and WHERE clauses. Only requests about apps read `monthly_app_breakdown`, since it lacks the postings
// from before the upgrade that added it.
const fromStatistics = `FROM monthly_statistics WHERE ${matchesRangeSql}`;
const fromBreakdown = `FROM monthly_breakdown WHERE ${matchesRangeSql} AND ${matchesFiltersSql}`;
const fromAppBreakdown = `FROM monthly_app_breakdown WHERE ${matchesRangeSql} AND ${matchesFiltersSql}
     AND (:app::text IS NULL OR client_id = :app)`;

const monthStatement = (name: string, from: string): Statement =>
  statement(name, `SELECT period, ${sums} ${from} GROUP BY period`);
const readMonths = monthStatement('series.months', fromStatistics);
const readFilteredMonths = monthStatement('series.filtered-months', fromBreakdown);
const readMonthsOfApp = monthStatement('series.months-of-app', fromAppBreakdown);

const columns = {
  release: 'release_id::text',
  product_type: 'product_type',
  country: 'country_code',
  platform: 'platform',
  app: 'client_id',
} as const satisfies Record<Dimension, string>;
const groupStatement = (name: string, dimension: Dimension, from: string): Statement => {
  const key = columns[dimension];
  // Rows without this dimension are in no group.
  return statement(
    name,
    `WITH cells AS MATERIALIZED (
       SELECT ${key} AS key, period, sum(units) AS units, sum(revenue) AS revenue, sum(royalties) AS royalties
       ${from} AND ${key} <> '' GROUP BY 1, 2
     ), highest AS (
       SELECT key, sum(revenue) AS total FROM cells GROUP BY key ORDER BY total DESC, key LIMIT ${maxGroups}
     )
     SELECT key, period, units::text, revenue::text, royalties::text FROM highest JOIN cells USING (key)
     ORDER BY total DESC, key, period`,
  );
};
// Unfiltered groups by release read `monthly_statistics`, which has far fewer rows than the breakdown.
const readReleases = groupStatement('series.releases', 'release', fromStatistics);
const byDimension = (statementOf: (dimension: Dimension) => Statement) => ({
  release: statementOf('release'),
  product_type: statementOf('product_type'),
  country: statementOf('country'),
  platform: statementOf('platform'),
  app: statementOf('app'),
});
const readGroups = byDimension((dimension) =>
  groupStatement(`series.by-${dimension}`, dimension, dimension === 'app' ? fromAppBreakdown : fromBreakdown),
);
const readGroupsOfApp = byDimension((dimension) =>
  groupStatement(`series.of-app-by-${dimension}`, dimension, fromAppBreakdown),
);

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
    const { range, months } = requestedMonths(query, this.clock());
    const { group_by, release, product_type, country, platform, app } = query;
    const filters = { release, product_type, country, platform, app };
    const statements = seriesStatements(filters, group_by);
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      const { currency } = await selectCreator(tx, creatorId);
      const values = { creator: creatorId, currency, ...range, ...filters };
      const [monthRows, groupRows] = await Promise.all([
        tx.rows<MonthRow>(statements.months, values),
        statements.groups && tx.rows<GroupRow>(statements.groups, values),
      ]);
      return seriesView({ months, currency, monthRows, groupRows });
    });
  }
}

function seriesStatements(
  filters: BreakdownFilters,
  groupBy: Dimension | undefined,
): { months: Statement; groups: Statement | undefined } {
  if (filters.app !== undefined)
    return { months: readMonthsOfApp, groups: groupBy && readGroupsOfApp[groupBy] };
  if (Object.values(filters).some((value) => value !== undefined))
    return { months: readFilteredMonths, groups: groupBy && readGroups[groupBy] };
  if (groupBy === 'release') return { months: readMonths, groups: readReleases };
  return { months: readMonths, groups: groupBy && readGroups[groupBy] };
}
