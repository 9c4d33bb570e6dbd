import { parsePublicId, publicId } from '@fulfilment/contracts';
import type { ServiceName } from '@fulfilment/contracts/permissions';
import { Failure } from '../../dev/failure.ts';
import { adminUrlOf, type ChaosContext } from '../suite/context.ts';
import {
  type ComparedSum,
  type Comparison,
  compareSet,
  countIds,
  type Found,
  type SetDifference,
} from './id-comparison.rules.ts';
import { type AcceptedOrder, orderEvents } from '../shopper.ts';
import { runSql } from '../../dev/run-sql.ts';

export interface ReceivedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly orderId: string;
}

/** Data that a restored database no longer has, but other services, clients or receivers may have. */
export interface LostByRestore {
  /** Units of the orders that store-api no longer has, by the UUIDs of the orders. */
  readonly orders: ReadonlyMap<string, number>;
  /** Messages of the lost orders that store-api had not published, as `ord_… TYPE`. */
  readonly unpublished: ReadonlySet<string>;
  /** Ids (ord_…) of orders that store-api has in an earlier version, so it repeats their later messages. */
  readonly earlierOrders: ReadonlySet<string>;
  /** Events that webhook-worker no longer has, as `ord_… EVENT`. */
  readonly events: ReadonlySet<string>;
}

export const nothingLost: LostByRestore = {
  orders: new Map(),
  unpublished: new Set(),
  earlierOrders: new Set(),
  events: new Set(),
};

/** What the accepted orders are compared with. `context` gives access to the databases. */
interface Observed {
  readonly context: ChaosContext;
  readonly received: readonly ReceivedDelivery[];
  readonly limited: { readonly productId: string; readonly initialStock: number };
  /** Units that the Creator API shows as sold. */
  readonly soldUnits: number;
}

/** Compares the data of the services and of the receiver with the orders that were accepted. */
export async function compareWithAccepted(
  accepted: readonly AcceptedOrder[],
  observed: Observed,
  lost: LostByRestore,
): Promise<Comparison> {
  const expected = expectedFrom(accepted, lost);
  return {
    sets: [
      compareSet(
        'accepted orders: one id for each key',
        new Set(accepted.map(({ id }) => id)),
        countIds(accepted.map(({ id }) => id)),
      ),
      ...(await compareStoreApi(expected, observed)),
      compareSet(
        'orders in the Creator API, paid',
        expected.publishedUuids,
        await readIdCounts(
          observed.context,
          'creator-api',
          "SELECT id FROM orders WHERE payment_status = 'paid'",
        ),
      ),
      ...(await compareWebhooks(expected, observed, lost)),
    ],
    sums: await compareSums(expected, observed),
  };
}

interface Expected {
  /** The accepted orders that store-api must have. */
  readonly orders: readonly (AcceptedOrder & { readonly uuid: string })[];
  readonly orderUuids: ReadonlySet<string>;
  /** Ids (ord_…) of all orders that were charged, including orders that the restore lost. */
  readonly chargedIds: ReadonlySet<string>;
  /** UUIDs of the orders that creator-api must have. */
  readonly publishedUuids: ReadonlySet<string>;
  /** Events that were published, as `ord_… EVENT`. */
  readonly publishedEvents: readonly string[];
  /** Units of the orders that creator-api must have. */
  readonly units: number;
}

function expectedFrom(accepted: readonly AcceptedOrder[], lost: LostByRestore): Expected {
  const orders = accepted
    .map((order) => ({ ...order, uuid: uuidOf(order.id) }))
    .filter(({ uuid }) => !lost.orders.has(uuid));
  const orderUuids = new Set(orders.map(({ uuid }) => uuid));
  const lostAfterPublishing = [...lost.orders].filter(
    ([uuid]) => !lost.unpublished.has(`${publicId('ord', uuid)} order.processing`),
  );
  const chargedIds = new Set([...orderUuids, ...lost.orders.keys()].map((uuid) => publicId('ord', uuid)));
  return {
    orders,
    orderUuids,
    chargedIds,
    publishedUuids: new Set([...orderUuids, ...lostAfterPublishing.map(([uuid]) => uuid)]),
    publishedEvents: eventsOf(chargedIds).filter((event) => !lost.unpublished.has(event)),
    // Unlike `lost.orders`, the units of accepted orders do not include their piece of the limited edition.
    units:
      orders.reduce((sum, order) => sum + order.units + 1, 0) +
      lostAfterPublishing.reduce((sum, [, units]) => sum + units, 0),
  };
}

async function compareStoreApi(
  { orders, orderUuids, chargedIds }: Expected,
  { context }: Observed,
): Promise<SetDifference[]> {
  const read = (sql: string) => readIdCounts(context, 'store-api', sql);
  return [
    compareSet('orders', orderUuids, await read('SELECT id FROM orders')),
    compareSet(
      'idempotency keys with their order',
      new Set(orders.map(({ key, uuid }) => `${key} ${uuid}`)),
      await read("SELECT key || ' ' || order_id AS id FROM idempotency_keys WHERE order_id IS NOT NULL"),
    ),
    compareSet(
      'charges',
      orderUuids,
      await read("SELECT order_id AS id FROM charges WHERE status = 'succeeded'"),
    ),
    compareSet(
      'charges at the payment provider',
      chargedIds,
      await read('SELECT order_id AS id FROM sandbox_charges WHERE refunded_at IS NULL'),
    ),
  ];
}

async function compareWebhooks(
  { publishedEvents }: Expected,
  { context, received }: Observed,
  lost: LostByRestore,
): Promise<SetDifference[]> {
  const read = (sql: string) => readIdCounts(context, 'webhook-worker', sql, [orderEvents]);
  const expected = new Set(publishedEvents.filter((event) => !lost.events.has(event)));
  const atReceiver = countDeliveries(received);
  const mayBeDoubled = (event: string): boolean => lost.earlierOrders.has(orderIdOf(event));
  return [
    compareSet(
      'events of webhooks',
      expected,
      await read(
        `SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,order_id}' || ' ' || event AS id
         FROM webhook_events WHERE event = ANY ($1)`,
      ),
      mayBeDoubled,
    ),
    compareSet(
      'deliveries that succeeded',
      expected,
      await read(
        `SELECT convert_from(e.body, 'UTF8')::jsonb #>> '{data,order_id}' || ' ' || d.event AS id
         FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id AND e.day = d.day
         WHERE d.status = 'succeeded' AND e.event = ANY ($1)`,
      ),
      mayBeDoubled,
    ),
    compareSet(
      'deliveries at the receiver, by their ids',
      // A lost event may have been delivered before the restore.
      new Set(publishedEvents.filter((event) => expected.has(event) || atReceiver.has(event))),
      atReceiver,
      mayBeDoubled,
    ),
  ];
}

async function compareSums(
  { orders, units }: Expected,
  { context, limited, soldUnits }: Observed,
): Promise<ComparedSum[]> {
  const readSum = async (service: ServiceName, sql: string, values: readonly unknown[] = []) =>
    Number((await runSql(adminUrlOf(service, context), sql, values))[0]?.['sum'] ?? 0);
  return [
    {
      name: 'units in the ledger',
      expected: units,
      found: await readSum('creator-api', "SELECT sum(units) FROM ledger WHERE kind = 'sale'"),
    },
    { name: 'units in the sales statistics', expected: units, found: soldUnits },
    // Each order takes one piece of the limited edition.
    {
      name: 'stock that is left',
      expected: limited.initialStock - orders.length,
      found: await readSum('store-api', 'SELECT quantity AS sum FROM products WHERE id = $1', [
        limited.productId,
      ]),
    },
    {
      name: 'stock taken by orders',
      expected: orders.length,
      found: await readSum(
        'store-api',
        `SELECT sum(CASE kind WHEN 'taken' THEN quantity ELSE -quantity END)
         FROM stock_movements WHERE product_id = $1`,
        [limited.productId],
      ),
    },
  ];
}

/** Counts the rows of a query by their column `id`. */
export async function readIdCounts(
  context: ChaosContext,
  service: ServiceName,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Found> {
  const rows = await runSql(adminUrlOf(service, context), sql, values);
  return countIds(rows.map(({ id }) => String(id)));
}

/** Counts the deliveries of each event. A delivery that was sent repeatedly counts once. */
export function countDeliveries(received: readonly ReceivedDelivery[]): Found {
  const events = new Map(
    received.map(({ deliveryId, orderId, event }) => [deliveryId, `${orderId} ${event}`]),
  );
  return countIds(events.values());
}

/** Returns the events of orders (ord_…), as `ord_… EVENT`. */
export function eventsOf(orderIds: Iterable<string>): string[] {
  return [...orderIds].flatMap((id) => orderEvents.map((event) => `${id} ${event}`));
}

/** Returns the order (ord_…) of an event, which is in the form `ord_… EVENT`. */
export function orderIdOf(event: string): string {
  return event.split(' ')[0] ?? '';
}

export function uuidOf(orderId: string): string {
  const uuid = parsePublicId('ord', orderId);
  if (uuid === undefined) throw new Failure(`${orderId} is not the id of an order.`);
  return uuid;
}
