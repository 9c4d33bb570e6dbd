import { publicId } from '@fulfilment/contracts';
import { rebuildCreatorApi } from '../../ops/rebuild-creator-api.ts';
import type { ChaosSuite } from '../suite/chaos-suite.ts';
import {
  countDeliveries,
  eventsOf,
  orderIdOf,
  readIdCounts,
  type ReceivedDelivery,
  uuidOf,
} from './compare-with-accepted.ts';
import { adminUrlOf, type ChaosContext, operatorAccessOf } from '../suite/context.ts';
import { initialStock } from '../suite/limited-edition.ts';
import {
  type ComparedSum,
  compareSet,
  describeDifferences,
  type Found,
  formatComparison,
  type SetDifference,
} from './id-comparison.rules.ts';
import type { AcceptedOrder } from '../shopper.ts';
import { runSql } from '../../dev/run-sql.ts';

const paidOrders = "SELECT id FROM orders WHERE payment_status = 'paid'";

/**
 * Repairs creator-api as docs/runbook.md says, after promotions of an asynchronous standby. Then compares the
 * services with store-api, and the accepted orders with those that are left. Lost webhooks are only counted,
 * since they are not sent again.
 */
export async function repairAndMeasureLoss(
  { context, limitedId }: ChaosSuite,
  accepted: readonly AcceptedOrder[],
  received: readonly ReceivedDelivery[],
) {
  await rebuildCreatorApi(operatorAccessOf(context));
  const remaining = new Set((await readIdCounts(context, 'store-api', paidOrders)).keys());
  const projected = await readIdCounts(context, 'creator-api', paidOrders);
  const delivered = countDeliveries(received);
  const sets = await compareServices(context, remaining, projected);
  const stock = await compareStock(context, limitedId, remaining.size);
  const webhooks = compareSet(
    'deliveries at the receiver (only reported)',
    new Set(eventsOf([...remaining].map((uuid) => publicId('ord', uuid)))),
    new Map([...delivered].filter(([event]) => remaining.has(uuidOf(orderIdOf(event))))),
  );
  const lost = accepted.filter(({ id }) => !remaining.has(uuidOf(id)));
  const deliveredIds = new Set([...delivered.keys()].map(orderIdOf));
  return {
    /** Lines to print. */
    lines: [
      `Lost: ${lost.length} of ${accepted.length} accepted orders.`,
      `  The Creator API still has ${lost.filter(({ id }) => projected.has(uuidOf(id))).length} of them,`,
      `  the receiver got webhooks of ${lost.filter(({ id }) => deliveredIds.has(id)).length}.`,
      '',
      'The orders that store-api has, after ops creator rebuild:',
      ...formatComparison({ sets: [...sets, webhooks], sums: [stock] }),
    ],
    /** Number of events that the receiver did not get, of the orders that store-api still has. */
    undelivered: webhooks.missing.length,
    /** Differences between the services about the orders that store-api still has. */
    differences: describeDifferences({ sets, sums: [stock] }),
  };
}

/**
 * Compares charges, read models and ledger with the orders that store-api still has (`remaining`, UUIDs).
 * @param projected the orders that creator-api has, lost ones included
 */
async function compareServices(
  context: ChaosContext,
  remaining: ReadonlySet<string>,
  projected: Found,
): Promise<SetDifference[]> {
  const charged = await readIdCounts(
    context,
    'store-api',
    "SELECT order_id AS id FROM charges WHERE status = 'succeeded'",
  );
  const posted = await readIdCounts(
    context,
    'creator-api',
    "SELECT DISTINCT order_id AS id FROM ledger WHERE kind = 'sale'",
  );
  const withoutLost = (found: Found): Found => new Map([...found].filter(([id]) => remaining.has(id)));
  return [
    compareSet('charges', remaining, charged),
    compareSet('orders in the Creator API', remaining, withoutLost(projected)),
    compareSet('orders in the ledger', remaining, withoutLost(posted)),
  ];
}

async function compareStock(
  context: ChaosContext,
  limitedId: string,
  remainingCount: number,
): Promise<ComparedSum> {
  const [product] = await runSql(
    adminUrlOf('store-api', context),
    'SELECT quantity FROM products WHERE id = $1',
    [limitedId],
  );
  return {
    name: 'stock that is left',
    expected: initialStock - remainingCount, // each order has one piece of the limited edition
    found: Number(product?.['quantity']),
  };
}
