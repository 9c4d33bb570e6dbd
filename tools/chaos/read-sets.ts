import { parsePublicId, publicId } from '@fulfilment/contracts';
import { Failure } from '../dev/failure.ts';
import { type ComparedSum, compareSet, countIds, type SetDifference } from './sets.rules.ts';
import { type AcceptedOrder, orderEvents } from './shopper.ts';
import { adminUrlOf, type ChaosContext } from './context.ts';
import { readRows } from './sql.ts';

export interface ReceivedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly orderId: string;
}

export interface Comparison {
  readonly sets: readonly SetDifference[];
  readonly sums: readonly ComparedSum[];
}

/** Data that a restored database no longer has, although other services, clients or receivers have it. */
export interface LostByRestore {
  /** Units of the orders that store-api no longer has, by the UUIDs of the orders. */
  readonly orders: ReadonlyMap<string, number>;
  /** Messages of these orders that had not left store-api, as order (ord_…) and type. */
  readonly unpublished: ReadonlySet<string>;
  /** Ids (ord_…) of orders that store-api has in an earlier version: it publishes the later ones again. */
  readonly earlierOrders: ReadonlySet<string>;
  /** Events that webhook-worker no longer has, as order and event. */
  readonly events: ReadonlySet<string>;
}

export const nothingLost: LostByRestore = {
  orders: new Map(),
  unpublished: new Set(),
  earlierOrders: new Set(),
  events: new Set(),
};

const databaseServices = {
  store: 'store-api',
  creator: 'creator-api',
  webhooks: 'webhook-worker',
} as const;

/** The data of the suite and the receiver, compared with the orders that were accepted. */
export async function compareWithAccepted(
  accepted: readonly AcceptedOrder[],
  from: {
    readonly context: ChaosContext;
    readonly received: readonly ReceivedDelivery[];
    readonly limited: { readonly productId: string; readonly initialStock: number };
    /** Units that the Creator API shows as sold. */
    readonly soldUnits: number;
  },
  lost: LostByRestore,
): Promise<Comparison> {
  const all = accepted.map((order) => ({ ...order, uuid: uuidOf(order.id) }));
  const orders = all.filter(({ uuid }) => !lost.orders.has(uuid));
  const uuids = new Set(orders.map(({ uuid }) => uuid));
  // Messages and charges of lost orders have left store-api.
  const chargedIds = [...uuids, ...lost.orders.keys()].map((uuid) => publicId('ord', uuid));
  const everyEvent = chargedIds
    .flatMap((id) => orderEvents.map((event) => `${id} ${event}`))
    .filter((event) => !lost.unpublished.has(event));
  const lostElsewhere = [...lost.orders.keys()].filter(
    (uuid) => !lost.unpublished.has(`${publicId('ord', uuid)} order.processing`),
  );
  const events = new Set(everyEvent.filter((event) => !lost.events.has(event)));
  const atReceiver = countIds(
    new Map(
      from.received.map(({ deliveryId, orderId, event }) => [deliveryId, `${orderId} ${event}`]),
    ).values(),
  );
  const mayBeDoubled = (event: string): boolean => lost.earlierOrders.has(event.split(' ')[0] ?? '');
  const units =
    orders.reduce((sum, order) => sum + order.units + 1, 0) +
    lostElsewhere.reduce((sum, uuid) => sum + (lost.orders.get(uuid) ?? 0), 0);
  const read = (database: keyof typeof databaseServices, sql: string, values: readonly unknown[] = []) =>
    readRows(adminUrlOf(databaseServices[database], from.context), sql, values);
  const ids = async (...query: Parameters<typeof read>) =>
    countIds((await read(...query)).map(({ id }) => String(id)));
  const sum = async (...query: Parameters<typeof read>) => Number((await read(...query))[0]?.['id'] ?? 0);
  const sets = [
    compareSet({
      name: 'accepted orders: one id for each key',
      expected: new Set(all.map(({ uuid }) => uuid)),
      found: countIds(all.map(({ uuid }) => uuid)),
    }),
    compareSet({ name: 'orders', expected: uuids, found: await ids('store', 'SELECT id FROM orders') }),
    compareSet({
      name: 'idempotency keys with their order',
      expected: new Set(orders.map(({ key, uuid }) => `${key} ${uuid}`)),
      found: await ids(
        'store',
        "SELECT key || ' ' || order_id AS id FROM idempotency_keys WHERE order_id IS NOT NULL",
      ),
    }),
    compareSet({
      name: 'charges',
      expected: uuids,
      found: await ids('store', "SELECT order_id AS id FROM charges WHERE status = 'succeeded'"),
    }),
    compareSet({
      name: 'charges at the payment provider',
      expected: new Set(chargedIds),
      found: await ids('store', 'SELECT order_id AS id FROM sandbox_charges WHERE refunded_at IS NULL'),
    }),
    compareSet({
      name: 'orders in the Creator API, paid',
      expected: new Set([...uuids, ...lostElsewhere]),
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
      mayBeDoubled,
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
      mayBeDoubled,
    }),
    compareSet({
      name: 'deliveries at the receiver, by their ids',
      expected: new Set(everyEvent.filter((event) => events.has(event) || atReceiver.has(event))),
      found: atReceiver,
      mayBeDoubled,
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
