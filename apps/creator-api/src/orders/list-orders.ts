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

const matchesCreatorAndStatus = `creator_id = :creator AND (:status::text IS NULL OR payment_status = :status OR dispatch_status = :status)`;

/** The parts of the SQL that differ with and without a filter by app. */
interface Variant {
  readonly nameSuffix: string;
  readonly countTable: string;
  /** Condition on the counts and the orders. */
  readonly appCondition: string;
}
const allApps: Variant = { nameSuffix: '', countTable: 'order_counts', appCondition: 'true' };
const oneApp: Variant = {
  nameSuffix: '-of-app',
  countTable: 'order_counts_by_app',
  appCondition: 'client_id = :app',
};

const countStatement = ({ nameSuffix, countTable, appCondition }: Variant) =>
  statement(
    `orders.count${nameSuffix}`,
    `SELECT COALESCE(sum(orders), 0)::bigint AS total FROM ${countTable}
   WHERE ${matchesCreatorAndStatus} AND ${appCondition} AND placed_on BETWEEN :from::date AND :to::date`,
  );

// The counts locate the days of the page and the offset within its first day. So neither a deep page nor a
// rare status reads the orders of other days.
const pageStatement = ({ nameSuffix, countTable, appCondition }: Variant) =>
  statement(
    `orders.page${nameSuffix}`,
    `WITH days AS MATERIALIZED (
     SELECT placed_on::timestamp AT TIME ZONE 'UTC' AS starts_at, (placed_on + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at,
       sum(orders)::bigint AS on_day, (sum(sum(orders)) OVER (ORDER BY placed_on DESC) - sum(orders))::bigint AS before_day
     FROM ${countTable} WHERE ${matchesCreatorAndStatus} AND ${appCondition} AND placed_on BETWEEN :from::date AND :to::date
     GROUP BY placed_on HAVING sum(orders) > 0
   )
   SELECT o.* FROM days CROSS JOIN LATERAL (
     SELECT ${orderColumns} FROM orders WHERE ${matchesCreatorAndStatus} AND ${appCondition} AND placed_at >= starts_at AND placed_at < ends_at
     ORDER BY placed_at DESC, id DESC LIMIT :limit OFFSET GREATEST(:skip - before_day, 0)
   ) o
   WHERE before_day + on_day > :skip::bigint AND before_day < :skip + :limit
   ORDER BY placed_at DESC, id DESC LIMIT :limit`,
  );

export const countOrders = countStatement(allApps);
export const readOrders = pageStatement(allApps);
const countOrdersOfApp = countStatement(oneApp);
const readOrdersOfApp = pageStatement(oneApp);

/** Lists a creator's orders, the newest first, in numbered pages with the exact total. */
@Injectable()
export class ListOrders {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the creator is not visible to the caller; ValidationFailed on an empty range */
  async run(
    caller: Caller,
    { creator, status, from, to, app, page, per_page }: OrdersQuery,
  ): Promise<NumberedPage<OrderSummary>> {
    const [count, readPage] =
      app === undefined ? [countOrders, readOrders] : [countOrdersOfApp, readOrdersOfApp];
    const filters = { creator, status, app, ...dayRange({ from, to }) };
    return this.visibility.replicaSnapshot(caller, async (tx) => {
      await selectCreator(tx, creator);
      const total = (await tx.row<{ total: number }>(count, filters))?.total ?? 0;
      const skip = (page - 1) * per_page;
      const rows =
        skip < total ? await tx.rows<OrderColumns>(readPage, { ...filters, limit: per_page, skip }) : [];
      return { data: rows.map(orderSummary), meta: { page, per_page, total } };
    });
  }
}
