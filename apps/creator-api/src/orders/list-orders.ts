import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { notFound, ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { Visibility } from '../visibility/visibility.js';
import { type OrderColumns, orderSummary, type OrderSummary } from './order.view.js';
import type { OrdersQuery } from './orders.dto.js';

const creatorIsVisible = statement('orders.creator', 'SELECT 1 FROM creators WHERE id = $1');

const readPage = statement(
  'orders.page',
  `SELECT id, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount, royalty_amount, item_count
   FROM orders
   WHERE creator_id = $1 AND ($2::text IS NULL OR payment_status = $2 OR dispatch_status = $2)
     AND placed_at >= $3::date::timestamp AT TIME ZONE 'UTC' AND placed_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC'
   ORDER BY placed_at DESC, id DESC LIMIT $5 OFFSET $6`,
);

const countAll = statement(
  'orders.count',
  `SELECT COALESCE(sum(orders), 0)::bigint AS total FROM order_counts
   WHERE creator_id = $1 AND ($2::text IS NULL OR payment_status = $2 OR dispatch_status = $2)
     AND placed_on BETWEEN $3::date AND $4::date`,
);

/** A creator's orders, the newest first, a numbered page at a time with the exact total. */
@Injectable()
export class ListOrders {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the caller sees no such creator */
  async run(
    who: Caller,
    { creator, status, from, to, page, per_page }: OrdersQuery,
  ): Promise<NumberedPage<OrderSummary>> {
    if (from !== undefined && to !== undefined && from > to) {
      throw new ValidationFailed([{ field: 'from', reason: 'must not be after to' }]);
    }
    const filters = [creator, status ?? null, from ?? '-infinity', to ?? 'infinity'];
    return this.visibility.as(who, async (tx) => {
      if ((await tx.row(creatorIsVisible, [creator])) === undefined) notFound('creator');
      const rows = await tx.rows<OrderColumns>(readPage, [...filters, per_page, (page - 1) * per_page]);
      const counted = await tx.row<{ total: number }>(countAll, filters);
      return { data: rows.map(orderSummary), meta: { page, per_page, total: counted?.total ?? 0 } };
    });
  }
}
