import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import { dayRange } from './day-range.rules.js';
import { orderColumns } from './order-columns.sql.js';
import type { OrderSummary } from './order.shapes.js';
import { type OrderColumns, orderSummary } from './order.view.js';
import type { OrdersQuery } from './orders.dto.js';

const matchesCreatorAndStatusSql = `creator_id = :creator AND (:status::text IS NULL OR payment_status = :status OR dispatch_status = :status)`;

/** The statements that count and read the orders of all apps, or those of one. */
const statementsOf = ({
  suffix,
  countTable,
  condition,
}: {
  readonly suffix: string;
  readonly countTable: string;
  /** On the counts and on the orders. */
  readonly condition: string;
}) => ({
  count: statement(
    `orders.count${suffix}`,
    `SELECT COALESCE(sum(orders), 0)::bigint AS total FROM ${countTable}
   WHERE ${condition} AND placed_on BETWEEN :from::date AND :to::date`,
  ),
  // The counts locate the days of the page and the offset within its first day. So neither a deep page nor a
  // rare status reads the orders of other days.
  page: statement(
    `orders.page${suffix}`,
    `WITH days AS MATERIALIZED (
     SELECT placed_on::timestamp AT TIME ZONE 'UTC' AS starts_at, (placed_on + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at,
       sum(orders)::bigint AS of_day, (sum(sum(orders)) OVER (ORDER BY placed_on DESC) - sum(orders))::bigint AS of_newer_days
     FROM ${countTable} WHERE ${condition} AND placed_on BETWEEN :from::date AND :to::date
     GROUP BY placed_on HAVING sum(orders) > 0
   )
   SELECT o.* FROM days CROSS JOIN LATERAL (
     SELECT ${orderColumns} FROM orders WHERE ${condition} AND placed_at >= starts_at AND placed_at < ends_at
     ORDER BY placed_at DESC, id DESC LIMIT :limit OFFSET GREATEST(:skip - of_newer_days, 0)
   ) o
   WHERE of_newer_days + of_day > :skip::bigint AND of_newer_days < :skip + :limit
   ORDER BY placed_at DESC, id DESC LIMIT :limit`,
  ),
});

export const ordersOfAllApps = statementsOf({
  suffix: '',
  countTable: 'order_counts',
  condition: matchesCreatorAndStatusSql,
});
const ordersOfApp = statementsOf({
  suffix: '-of-app',
  countTable: 'order_counts_by_app',
  condition: `${matchesCreatorAndStatusSql} AND client_id = :app`,
});

/** Lists a creator's orders, the newest first, in numbered pages with the exact total. */
@Injectable()
export class ListOrders {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the creator is not visible to the caller; ValidationFailed on an empty range */
  async run(
    caller: Caller,
    { creator, status, from, to, app, page, per_page }: OrdersQuery,
  ): Promise<NumberedPage<OrderSummary>> {
    const statements = app === undefined ? ordersOfAllApps : ordersOfApp;
    const filters = { creator, status, app, ...dayRange({ from, to }) };
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      await selectCreator(tx, creator);
      const total = (await tx.row<{ total: number }>(statements.count, filters))?.total ?? 0;
      const skip = (page - 1) * per_page;
      const rows =
        skip < total
          ? await tx.rows<OrderColumns>(statements.page, { ...filters, limit: per_page, skip })
          : [];
      return { data: rows.map(orderSummary), meta: { page, per_page, total } };
    });
  }
}
