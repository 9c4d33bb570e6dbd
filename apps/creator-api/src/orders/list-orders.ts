import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import type { OrderSummary } from './order.shapes.js';
import { type OrderColumns, orderSummary } from './order.view.js';
import type { OrdersQuery } from './orders.dto.js';

const isListed = `creator_id = $1 AND ($2::text IS NULL OR payment_status = $2 OR dispatch_status = $2)`;

export const countOrders = statement(
  'orders.count',
  `SELECT COALESCE(sum(orders), 0)::bigint AS total FROM order_counts
   WHERE ${isListed} AND placed_on BETWEEN $3::date AND $4::date`,
);

// The counts locate the days of the page and the offset within its first day. So neither a deep page nor a
// rare status reads the orders of other days.
export const readOrders = statement(
  'orders.page',
  `WITH days AS MATERIALIZED (
     SELECT placed_on::timestamp AT TIME ZONE 'UTC' AS starts_at, (placed_on + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at,
       sum(sum(orders)) OVER (ORDER BY placed_on DESC)::bigint AS running_total, sum(orders)::bigint AS day_total
     FROM order_counts WHERE ${isListed} AND placed_on BETWEEN $3::date AND $4::date
     GROUP BY placed_on HAVING sum(orders) > 0
   )
   SELECT o.* FROM days CROSS JOIN LATERAL (
     SELECT id, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount, royalty_amount, item_count
     FROM orders WHERE ${isListed} AND placed_at >= starts_at AND placed_at < ends_at
     ORDER BY placed_at DESC, id DESC LIMIT $5 OFFSET GREATEST($6 - (running_total - day_total), 0)
   ) o
   WHERE running_total > $6 AND running_total - day_total < $6 + $5
   ORDER BY placed_at DESC, id DESC LIMIT $5`,
);

/** A creator's orders, the newest first, a numbered page at a time with the exact total. */
@Injectable()
export class ListOrders {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the caller sees no such creator */
  async run(
    caller: Caller,
    { creator, status, from, to, page, per_page }: OrdersQuery,
  ): Promise<NumberedPage<OrderSummary>> {
    if (from !== undefined && to !== undefined && from > to) {
      throw new ValidationFailed([{ field: 'from', reason: 'must not be after to' }]);
    }
    const filters = [creator, status ?? null, from ?? '-infinity', to ?? 'infinity'];
    return this.visibility.replicaSnapshot(caller, async (tx) => {
      await selectCreator(tx, creator);
      const total = (await tx.row<{ total: number }>(countOrders, filters))?.total ?? 0;
      const skip = (page - 1) * per_page;
      const rows = skip < total ? await tx.rows<OrderColumns>(readOrders, [...filters, per_page, skip]) : [];
      return { data: rows.map(orderSummary), meta: { page, per_page, total } };
    });
  }
}
