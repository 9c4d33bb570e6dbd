import { type Database, statement } from '@fulfilment/database';
import { Gauge } from '@fulfilment/runtime';

/**
 * Gauges by their column in the statement `measure`. Two names keep older words: `refunds_owed` counts due
 * refunds, and `deferred_reports` deferred events.
 */
const gauges = {
  pending_oldest: new Gauge({
    name: 'orders_pending_oldest_seconds',
    help: 'Age of the oldest order that waits for the payment provider; 0 if there is none.',
  }),
  refunds: new Gauge({
    name: 'refunds_owed',
    help: 'Charges that are due to be refunded, counted up to 10000.',
  }),
  refunds_oldest: new Gauge({
    name: 'refunds_owed_oldest_seconds',
    help: 'Time since the oldest due refund became due.',
  }),
  deferred: new Gauge({
    name: 'deferred_reports',
    help: 'Fulfilment events that wait for an earlier event of the same order, counted up to 10000.',
  }),
  deferred_oldest: new Gauge({
    name: 'deferred_reports_oldest_seconds',
    help: 'Time since the oldest fulfilment event arrived that waits for an earlier one.',
  }),
};

/** SQL of pending orders. @param condition that of `orders_to_resume_first` or `orders_to_resume_again` */
const pendingSql = (condition: string) =>
  `(SELECT created_at FROM orders WHERE resume_at IS NOT NULL AND ${condition} AND status = 'pending' LIMIT 10000)`;
const ageSecondsSql = (oldest: string) => `COALESCE(extract(epoch FROM now() - ${oldest}), 0)::float8`;
// Each subquery reads at most 10000 entries of a partial index or a small table. With more entries, an age
// is the age of the oldest entry that was read. A refund is due from the cancellation (`refunded_at`), or, if
// the order was not paid then, from the settlement of its charge.
export const measure = statement(
  'orders.measure',
  `SELECT ${ageSecondsSql('pending.oldest')} AS pending_oldest,
     refunds.count AS refunds, ${ageSecondsSql('refunds.oldest')} AS refunds_oldest,
     deferred.count AS deferred, ${ageSecondsSql('deferred.oldest')} AS deferred_oldest
   FROM (SELECT min(created_at) AS oldest FROM (
       ${pendingSql('resume_tries = 0')} UNION ALL ${pendingSql('resume_tries > 0')}) o) pending,
     (SELECT count(*), min(coalesce((SELECT refunded_at FROM orders WHERE id = c.order_id), settled_at)) AS oldest FROM (
       SELECT order_id, settled_at FROM charges WHERE status = 'refund_due' LIMIT 10000) c) refunds,
     (SELECT count(*), min(deferred_at) AS oldest FROM (SELECT deferred_at FROM deferred_events LIMIT 10000) d) deferred`,
);

/** Sets the gauges of pending orders, due refunds and deferred events. */
export async function measureOrders(database: Database): Promise<void> {
  const measured = await database.row<Record<string, number>>(measure);
  for (const [column, gauge] of Object.entries(gauges)) gauge.set(measured?.[column] ?? 0);
}
