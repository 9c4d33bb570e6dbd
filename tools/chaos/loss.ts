import { publicId } from '@fulfilment/contracts';
import { rebuildCreatorApi } from '../ops/rebuild-creators.ts';
import type { ChaosSuite } from './chaos-suite.ts';
import { initialStock } from './limited-edition.ts';
import { operators } from './operators.ts';
import type { ReceivedDelivery } from './read-sets.ts';
import { compareSet, countIds, formatSets, isSame } from './sets.rules.ts';
import { type AcceptedOrder, orderEvents } from './shopper.ts';
import { adminUrlOf } from './context.ts';
import { readRows } from './sql.ts';

export interface Loss {
  /** Lines for people. */
  readonly lines: readonly string[];
  /** Differences between the services about the orders that store-api still has. */
  readonly differences: readonly string[];
  /** Webhooks of these orders that the receiver did not get. */
  readonly undelivered: number;
}

/**
 * Measures the loss by promotions of an asynchronous standby. Repairs creator-api as docs/runbook.md says,
 * then compares the services with store-api. Lost webhooks are only counted, since they are not sent again.
 */
export async function measureLoss(
  { context, limitedId }: ChaosSuite,
  accepted: readonly AcceptedOrder[],
  received: readonly ReceivedDelivery[],
): Promise<Loss> {
  await rebuildCreatorApi(operators(context));
  const read = (service: 'store-api' | 'creator-api', sql: string, values: readonly unknown[] = []) =>
    readRows(adminUrlOf(service, context), sql, values);
  const orders = await read('store-api', "SELECT id FROM orders WHERE payment_status = 'paid'");
  const kept = new Set(orders.map(({ id }) => publicId('ord', String(id))));
  const ofCreatorApi = countIds(
    (await read('creator-api', "SELECT id FROM orders WHERE payment_status = 'paid'")).map(({ id }) =>
      publicId('ord', String(id)),
    ),
  );
  const charges = await read('store-api', "SELECT order_id AS id FROM charges WHERE status = 'succeeded'");
  const ledger = await read('creator-api', "SELECT DISTINCT order_id AS id FROM ledger WHERE kind = 'sale'");
  const [product] = await read('store-api', 'SELECT quantity FROM products WHERE id = $1', [limitedId]);

  const lost = accepted.filter(({ id }) => !kept.has(id));
  const events = new Set([...kept].flatMap((id) => orderEvents.map((event) => `${id} ${event}`)));
  const atReceiver = countIds(
    new Map(received.map(({ deliveryId, orderId, event }) => [deliveryId, `${orderId} ${event}`])).values(),
  );
  const ofKept = <Value>(found: ReadonlyMap<string, Value>) =>
    new Map([...found].filter(([id]) => kept.has(id.split(' ')[0] ?? '')));
  const uuids = (rows: readonly Record<string, unknown>[]) =>
    countIds(rows.map(({ id }) => publicId('ord', String(id))));
  const sets = [
    compareSet({ name: 'charges', expected: kept, found: uuids(charges) }),
    compareSet({ name: 'orders in the Creator API', expected: kept, found: ofKept(ofCreatorApi) }),
    compareSet({ name: 'orders in the ledger', expected: kept, found: ofKept(uuids(ledger)) }),
  ];
  const sums = [
    {
      name: 'stock that is left',
      expected: initialStock - kept.size,
      found: Number(product?.['quantity']),
    },
  ];
  const webhooks = compareSet({
    name: 'deliveries at the receiver (only reported)',
    expected: events,
    found: ofKept(atReceiver),
  });
  const delivered = new Set([...atReceiver.keys()].map((event) => event.split(' ')[0]));
  return {
    lines: [
      `Lost: ${lost.length} of ${accepted.length} accepted orders.`,
      `  The Creator API still has ${lost.filter(({ id }) => ofCreatorApi.has(id)).length} of them,`,
      `  the receiver got webhooks of ${lost.filter(({ id }) => delivered.has(id)).length}.`,
      '',
      'The orders that store-api has, after ops creator rebuild:',
      ...formatSets([...sets, webhooks], sums),
    ],
    undelivered: webhooks.missing.length,
    differences: [
      ...sets.filter((set) => !isSame(set)).map(({ name }) => name),
      ...sums.filter(({ expected, found }) => expected !== found).map(({ name }) => name),
    ],
  };
}
