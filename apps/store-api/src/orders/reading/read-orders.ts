import { type CursorPage, parsePublicId } from '@fulfilment/contracts';
import { BatchLoader, Database, JsonRows, ReadDatabase, statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ListOrdersDto } from './list-orders.dto.js';
import type { OrderSummary, OrderView } from '../order.shapes.js';
import { boundValues, type OrderPageRow, pageQuery } from './order-pages.js';
import { orderSummary, orderView, type OrderViewRow } from './order.view.js';

interface OrderKey {
  readonly order_id: string;
  readonly creator_id: string | undefined;
}

const requested = new JsonRows<OrderKey>('requested', { order_id: 'uuid', creator_id: 'uuid' });
// Returns no row for an order of another creator. LIMIT keeps PostgreSQL from turning the subquery into a
// join (`JsonRows`).
export const readOrders = statement(
  'orders.read',
  `SELECT requested.index, id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
          shipping_rate_id AS rate_id, shipping_amount, billing_method, payment_status, charge_amount, charged_at, packages, tracking_updated_at,
          created_at, updated_at, shipping_address, metadata, test,
          (SELECT json_agg(json_build_object('product_id', i.product_id, 'title', i.title, 'quantity', i.quantity,
                                             'unit_amount', i.unit_amount) ORDER BY i.position)
           FROM order_items i WHERE i.order_id = orders.id) AS items
   FROM ${requested.table()} CROSS JOIN LATERAL (SELECT * FROM orders WHERE id = requested.order_id LIMIT 1) AS orders
   WHERE orders.creator_id = requested.creator_id`,
);

/** Reads the orders of the connected creator. */
@Injectable()
export class ReadOrders {
  /** Concurrent reads share a round trip, which takes longer than reading their rows. */
  private readonly orders: BatchLoader<OrderKey, OrderViewRow>;

  constructor(
    private readonly database: Database,
    private readonly reads: ReadDatabase,
    private readonly cursors: SignedCursors,
  ) {
    this.orders = new BatchLoader({ run: (keys) => this.loadBatch(keys), maxConcurrent: 2 });
  }

  async read(caller: Caller, id: string): Promise<OrderView> {
    const uuid = parsePublicId('ord', id) ?? throwNotFound('order');
    const row = await this.orders.load({ order_id: uuid, creator_id: caller.creatorId });
    return row === undefined ? throwNotFound('order') : orderView(row);
  }

  async list(caller: Caller, query: ListOrdersDto): Promise<CursorPage<OrderSummary>> {
    const boundTo = boundValues(caller.creatorId, query);
    const after = query.cursor === undefined ? undefined : this.cursors.open(boundTo, query.cursor);
    const { statement: readPage, values } = pageQuery(caller.creatorId, query, after);
    const rows = await this.reads.read((database) => database.rows<OrderPageRow>(readPage, values));
    const { page, pagination } = this.cursors.page(rows, query.limit, boundTo, (row) => ({
      micros: row.position_micros,
      id: row.id,
    }));
    return { data: page.map(orderSummary), pagination };
  }

  private async loadBatch(keys: readonly OrderKey[]): Promise<{ index: number; row: OrderViewRow }[]> {
    const values = requested.values(keys);
    const rows = await this.database.rows<OrderViewRow & { index: number }>(readOrders, values);
    return rows.map((row) => ({ index: row.index, row }));
  }
}
