import { type Message, messages, nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { Clock } from '@fulfilment/runtime';
import { type ItemRow, orderColumns, type OrderRow, orderSnapshot } from './order-row.js';

const readPage = statement(
  'orders.replay',
  `SELECT ${orderColumns} FROM orders WHERE id > $1 ORDER BY id LIMIT $2`,
);
const readItems = statement(
  'orders.replay-items',
  `SELECT order_id, id, product_id, release_id, title, release_title, product_type, ean, quantity, unit_amount, royalty_rate
   FROM order_items WHERE order_id = ANY($1::uuid[]) ORDER BY order_id, position`,
);

interface ItemOfOrder extends ItemRow {
  order_id: string;
}

/**
 * Yields every order in its current state, page by page. Concurrent changes are published by their own
 * messages.
 */
export async function* replayOrders(
  database: Database,
  clock: Clock,
  pageSize = 500,
): AsyncGenerator<Message[]> {
  for (let after = nilUuid; ;) {
    const page = await database.transaction(async (tx) => {
      const orders = await tx.rows<OrderRow>(readPage, [after, pageSize]);
      const ids = orders.map((order) => order.id);
      return { orders, items: await tx.rows<ItemOfOrder>(readItems, [ids]) };
    });
    const itemsOf = Map.groupBy(page.items, (item) => item.order_id);
    const occurredAt = clock();
    yield page.orders.map((order) => {
      const items = (itemsOf.get(order.id) ?? []).map(({ order_id: _, ...item }) => item);
      return messages.replayOrder.make({ order: orderSnapshot(order, items) }, { occurredAt });
    });
    const last = page.orders.at(-1);
    if (last === undefined || page.orders.length < pageSize) return;
    after = last.id;
  }
}
