import { type Message, messages, nilUuid } from '@fulfilment/contracts';
import { type Database, keysetPages, statement } from '@fulfilment/database';
import type { Clock } from '@fulfilment/runtime';
import { readItemsOfOrders, orderColumns, type OrderRow, orderSnapshot } from '../order-row.js';

const readPage = statement(
  'orders.replay',
  `SELECT ${orderColumns} FROM orders WHERE id > $1 ORDER BY id LIMIT $2`,
);

/**
 * Yields a `replay.order` message for each order in its current state, page by page. Concurrent changes are
 * published by their own messages.
 */
export async function* replayOrders(
  database: Database,
  clock: Clock,
  pageSize = 500,
): AsyncGenerator<Message[]> {
  const pages = keysetPages<OrderRow>(pageSize, (last) =>
    database.rows(readPage, [last?.id ?? nilUuid, pageSize]),
  );
  for await (const orders of pages) {
    const items = await readItemsOfOrders(
      database,
      orders.map(({ id }) => id),
    );
    const occurredAt = clock();
    yield orders.map((order) => {
      const snapshot = orderSnapshot(order, items.get(order.id) ?? []);
      return messages.replayOrder.make({ order: snapshot }, { occurredAt });
    });
  }
}
