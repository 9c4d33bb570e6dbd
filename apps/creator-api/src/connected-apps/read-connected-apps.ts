import { statement } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { exactSums, type SumsRow } from '../statistics/exact-sums.js';
import { requestedMonths } from '../statistics/months.rules.js';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import type { ConnectedAppsQuery } from './connected-apps.dto.js';
import type { ConnectedAppsView } from './connected-apps.shapes.js';

// Parameters of each statement: the creator $1, its settlement currency $2, the first month $3, the last
// month $4. Orders of all currencies are counted, since the counts have no currency.
const matchesMonthsSql = `creator_id = $1 AND currency = $2 AND period BETWEEN $3 AND $4`;
const matchesDaysSql = `creator_id = $1 AND placed_on >= ($3 || '-01')::date AND placed_on < ($4 || '-01')::date + interval '1 month'`;
const sumColumns = 'sum(units) AS units, sum(revenue) AS revenue, sum(royalties) AS royalties';

const readApps = statement(
  'connected-apps.page',
  `WITH placed AS (
     SELECT client_id, sum(orders) AS orders FROM order_counts_by_app WHERE ${matchesDaysSql} GROUP BY client_id HAVING sum(orders) <> 0
   ), earned AS (
     SELECT client_id, ${sumColumns} FROM monthly_app_breakdown WHERE ${matchesMonthsSql} AND client_id <> '' GROUP BY client_id
   ), connected AS (
     SELECT client_id, name, connected_at FROM creator_apps WHERE creator_id = $1
   )
   SELECT client_id, COALESCE(first_party.name, connected.name) AS name, first_party.client_id IS NOT NULL AS first_party, connected_at,
     COALESCE(orders, 0)::bigint AS orders, COALESCE(units, 0)::text AS units, COALESCE(revenue, 0)::text AS revenue,
     COALESCE(royalties, 0)::text AS royalties
   FROM placed FULL JOIN earned USING (client_id) FULL JOIN connected USING (client_id) LEFT JOIN first_party_apps first_party USING (client_id)
   WHERE connected_at IS NOT NULL OR orders IS NOT NULL OR units IS NOT NULL
   ORDER BY COALESCE(earned.revenue, 0) DESC, COALESCE(placed.orders, 0) DESC, client_id LIMIT $5 OFFSET $6`,
);
const countApps = statement(
  'connected-apps.count',
  `SELECT count(*) AS total FROM (
     SELECT client_id FROM order_counts_by_app WHERE ${matchesDaysSql} GROUP BY client_id HAVING sum(orders) <> 0
     UNION SELECT client_id FROM monthly_app_breakdown WHERE ${matchesMonthsSql} AND client_id <> ''
     UNION SELECT client_id FROM creator_apps WHERE creator_id = $1 AND connected_at IS NOT NULL
   ) AS app`,
);

/**
 * SQL: the sum of orders whose app is not known: the sum of all orders minus the sum of known apps. Only
 * `monthly_statistics` has the sums from before the upgrade that added apps; they count as unknown.
 */
const unknownSumSql = (column: string): string =>
  `(SELECT COALESCE(sum(${column}), 0) FROM monthly_statistics WHERE ${matchesMonthsSql})
     - (SELECT COALESCE(sum(${column}), 0) FROM monthly_app_breakdown WHERE ${matchesMonthsSql} AND client_id <> '')`;
const readUnknown = statement(
  'connected-apps.unknown',
  `SELECT ((SELECT COALESCE(sum(orders), 0) FROM order_counts WHERE ${matchesDaysSql})
     - (SELECT COALESCE(sum(orders), 0) FROM order_counts_by_app WHERE ${matchesDaysSql}))::bigint AS orders,
     (${unknownSumSql('units')})::text AS units, (${unknownSumSql('revenue')})::text AS revenue, (${unknownSumSql('royalties')})::text AS royalties`,
);

interface OrderFiguresRow extends SumsRow {
  readonly orders: number;
}
interface AppRow extends OrderFiguresRow {
  readonly client_id: string;
  readonly name: string | null;
  readonly first_party: boolean;
  readonly connected_at: Date | null;
}

/** Returns the apps that are connected to a creator, or have orders or payments in the range of months. */
@Injectable()
export class ReadConnectedApps {
  constructor(
    private readonly visibility: Visibility,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws NotFound when the creator is not visible; ValidationFailed on an empty or too long range */
  async run(caller: Caller, creatorId: string, query: ConnectedAppsQuery): Promise<ConnectedAppsView> {
    const { page, per_page } = query;
    const { range } = requestedMonths(query, this.clock());
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      const { currency } = await selectCreator(tx, creatorId);
      const values = [creatorId, currency, range.from, range.to];
      const [apps, count, unknown] = await Promise.all([
        tx.rows<AppRow>(readApps, [...values, per_page, (page - 1) * per_page]),
        tx.row<{ total: number }>(countApps, values),
        tx.row<OrderFiguresRow>(readUnknown, values),
      ]);
      return {
        ...range,
        currency,
        unknown: orderFigures(unknown),
        data: apps.map((row) => ({
          client_id: row.client_id,
          name: row.name,
          first_party: row.first_party,
          connected_at: row.connected_at?.toISOString() ?? null,
          ...orderFigures(row),
        })),
        meta: { page, per_page, total: count?.total ?? 0 },
      };
    });
  }
}

function orderFigures(row: OrderFiguresRow | undefined): ConnectedAppsView['unknown'] {
  return { orders: row?.orders ?? 0, totals: exactSums(row) };
}
