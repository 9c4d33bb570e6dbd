import { parsePublicId } from '@fulfilment/contracts';
import pg from 'pg';
import { Failure } from '../dev/failure.ts';
import type { DatabaseName } from '../dev/databases.ts';
import { type ComparedSum, compareSet, countIds, type SetDifference } from './sets.rules.ts';
import { type AcceptedOrder, orderEvents } from './shopper.ts';

export interface ReceivedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly orderId: string;
}

export interface Comparison {
  readonly sets: readonly SetDifference[];
  readonly sums: readonly ComparedSum[];
}

/** What the suite and the receiver have, compared with the orders that were accepted. */
export async function compareWithAccepted(
  accepted: readonly AcceptedOrder[],
  from: {
    /** URL of an administrator. */
    readonly postgres: string;
    readonly received: readonly ReceivedDelivery[];
    readonly limited: { readonly productId: string; readonly initialStock: number };
    /** Units that the Creator API shows as sold. */
    readonly soldUnits: number;
  },
): Promise<Comparison> {
  const orders = accepted.map((order) => ({ ...order, uuid: uuidOf(order.id) }));
  const uuids = new Set(orders.map(({ uuid }) => uuid));
  const events = new Set(orders.flatMap(({ id }) => orderEvents.map((event) => `${id} ${event}`)));
  const units = orders.reduce((sum, order) => sum + order.units + 1, 0);
  const ids = async (database: DatabaseName, sql: string, values: readonly unknown[] = []) =>
    countIds((await readRows(from.postgres, database, sql, values)).map(({ id }) => String(id)));
  const sum = async (database: DatabaseName, sql: string, values: readonly unknown[] = []) =>
    Number((await readRows(from.postgres, database, sql, values))[0]?.['id'] ?? 0);
  const sets = [
    compareSet({
      name: 'accepted orders: one id for each key',
      expected: uuids,
      found: countIds(orders.map(({ uuid }) => uuid)),
    }),
    compareSet({ name: 'orders', expected: uuids, found: await ids('store', 'SELECT id FROM orders') }),
    compareSet({
      name: 'idempotency keys with their order',
      expected: new Set(orders.map(({ key, uuid }) => `${key} ${uuid}`)),
      found: await ids('store', "SELECT key || ' ' || order_id AS id FROM idempotency_keys"),
    }),
    compareSet({
      name: 'charges',
      expected: uuids,
      found: await ids('store', "SELECT order_id AS id FROM charges WHERE status = 'succeeded'"),
    }),
    compareSet({
      name: 'charges at the payment provider',
      expected: new Set(orders.map(({ id }) => id)),
      found: await ids('store', 'SELECT order_id AS id FROM sandbox_charges WHERE refunded_at IS NULL'),
    }),
    compareSet({
      name: 'orders in the Creator API, paid',
      expected: uuids,
      found: await ids('creator', "SELECT id FROM orders WHERE payment_status = 'paid'"),
    }),
    compareSet({
      name: 'events of webhooks',
      expected: events,
      found: await ids(
        'webhooks',
        `SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,order_id}' || ' ' || event AS id
         FROM webhook_events WHERE event = ANY ($1)`,
        [orderEvents],
      ),
    }),
    compareSet({
      name: 'deliveries that succeeded',
      expected: events,
      found: await ids(
        'webhooks',
        `SELECT convert_from(e.body, 'UTF8')::jsonb #>> '{data,order_id}' || ' ' || d.event AS id
         FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id AND e.day = d.day
         WHERE d.status = 'succeeded' AND e.event = ANY ($1)`,
        [orderEvents],
      ),
    }),
    compareSet({
      name: 'deliveries at the receiver, by their ids',
      expected: events,
      found: countIds(
        new Map(
          from.received.map(({ deliveryId, orderId, event }) => [deliveryId, `${orderId} ${event}`]),
        ).values(),
      ),
    }),
  ];
  const sums = [
    {
      name: 'units in the ledger',
      expected: units,
      found: await sum('creator', "SELECT sum(units) AS id FROM ledger WHERE kind = 'sale'"),
    },
    { name: 'units in the sales statistics', expected: units, found: from.soldUnits },
    {
      name: 'stock that is left',
      expected: from.limited.initialStock - orders.length,
      found: await sum('store', 'SELECT quantity AS id FROM products WHERE id = $1', [
        from.limited.productId,
      ]),
    },
    {
      name: 'stock taken by orders',
      expected: orders.length,
      found: await sum(
        'store',
        `SELECT sum(CASE kind WHEN 'taken' THEN quantity ELSE -quantity END) AS id
         FROM stock_movements WHERE product_id = $1`,
        [from.limited.productId],
      ),
    },
  ];
  return { sets, sums };
}

function uuidOf(id: string): string {
  const uuid = parsePublicId('ord', id);
  if (uuid === undefined) throw new Failure(`${id} is not the id of an order.`);
  return uuid;
}

async function readRows(
  postgres: string,
  database: DatabaseName,
  sql: string,
  values: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  const url = new URL(postgres);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
