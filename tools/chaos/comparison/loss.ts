import { publicId } from '@fulfilment/contracts';
import { rebuildCreatorApi } from '../../ops/rebuild-creators.ts';
import type { ChaosSuite } from '../suite/chaos-suite.ts';
import {
  countDeliveries,
  eventsOf,
  orderIdOf,
  readIds,
  type ReceivedDelivery,
  uuidOf,
} from './compare-with-accepted.ts';
import { adminUrlOf, operatorAccessOf } from '../suite/context.ts';
import { initialStock } from '../suite/limited-edition.ts';
import { compareSet, differencesIn, type Found, formatComparison } from './sets.rules.ts';
import type { AcceptedOrder } from '../shopper.ts';
import { runSql } from '../../dev/run-sql.ts';

export interface Loss {
  /** Lines for people. */
  readonly lines: readonly string[];
  /** Differences between the services about the orders that store-api still has. */
  readonly differences: readonly string[];
  /** Number of events of these orders that the receiver did not get. */
  readonly undelivered: number;
}

/**
 * Measures what the promotions of an asynchronous standby lost. Repairs creator-api as docs/runbook.md says,
 * then compares the services with store-api. Lost webhooks are only counted, since they are not sent again.
 */
export async function measureLoss(
  { context, limitedId }: ChaosSuite,
  accepted: readonly AcceptedOrder[],
  received: readonly ReceivedDelivery[],
): Promise<Loss> {
  await rebuildCreatorApi(operatorAccessOf(context));
  const paidOrders = "SELECT id FROM orders WHERE payment_status = 'paid'";
  const remaining = new Set((await readIds(context, 'store-api', paidOrders)).keys());
  const projected = await readIds(context, 'creator-api', paidOrders);
  const posted = await readIds(
    context,
    'creator-api',
    "SELECT DISTINCT order_id AS id FROM ledger WHERE kind = 'sale'",
  );
  const delivered = countDeliveries(received);
  const ofRemaining = (found: Found, uuid: (id: string) => string): Found =>
    new Map([...found].filter(([id]) => remaining.has(uuid(id))));
  const sets = [
    compareSet(
      'charges',
      remaining,
      await readIds(context, 'store-api', "SELECT order_id AS id FROM charges WHERE status = 'succeeded'"),
    ),
    compareSet(
      'orders in the Creator API',
      remaining,
      ofRemaining(projected, (id) => id),
    ),
    compareSet(
      'orders in the ledger',
      remaining,
      ofRemaining(posted, (id) => id),
    ),
  ];
  const [product] = await runSql(
    adminUrlOf('store-api', context),
    'SELECT quantity FROM products WHERE id = $1',
    [limitedId],
  );
  const stock = {
    name: 'stock that is left',
    expected: initialStock - remaining.size,
    found: Number(product?.['quantity']),
  };
  const webhooks = compareSet(
    'deliveries at the receiver (only reported)',
    new Set(eventsOf([...remaining].map((uuid) => publicId('ord', uuid)))),
    ofRemaining(delivered, (event) => uuidOf(orderIdOf(event))),
  );
  const lost = accepted.filter(({ id }) => !remaining.has(uuidOf(id)));
  const deliveredIds = new Set([...delivered.keys()].map(orderIdOf));
  return {
    lines: [
      `Lost: ${lost.length} of ${accepted.length} accepted orders.`,
      `  The Creator API still has ${lost.filter(({ id }) => projected.has(uuidOf(id))).length} of them,`,
      `  the receiver got webhooks of ${lost.filter(({ id }) => deliveredIds.has(id)).length}.`,
      '',
      'The orders that store-api has, after ops creator rebuild:',
      ...formatComparison({ sets: [...sets, webhooks], sums: [stock] }),
    ],
    undelivered: webhooks.missing.length,
    differences: differencesIn({ sets, sums: [stock] }),
  };
}
