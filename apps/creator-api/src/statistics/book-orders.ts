import { statement, type Transaction } from '@fulfilment/database';
import { bookingOf, type PaidLine } from './booking.rules.js';
import { holdMonthsOpen, postingMonth } from './close-months.js';
import { rateOfPayment } from './rate-of-payment.js';

const paidOn = `(o.charged_at AT TIME ZONE 'UTC')::date`;
const ledgerColumns = `item_id, kind, order_id, creator_id, occurred_at, period, release_id, ean, units, currency, revenue,
     vat, royalty, settlement_currency, settled_revenue, settled_vat, settled_royalty`;

// What needs no conversion needs no reading first.
const bookOwnCurrency = statement(
  'ledger.book_own_currency',
  `INSERT INTO ledger (${ledgerColumns})
   SELECT i.id, 'sale', o.id, o.creator_id, o.charged_at, ${postingMonth('o.charged_at')}, i.release_id,
     i.ean, i.quantity, o.currency, i.total_amount, i.vat_amount, i.royalty_amount, o.currency, i.total_amount, i.vat_amount,
     i.royalty_amount
   FROM orders o JOIN order_items i ON i.order_id = o.id JOIN creators c ON c.id = o.creator_id
   WHERE o.id = ANY($1::uuid[]) AND o.charged_at IS NOT NULL AND o.currency = c.settlement_currency
   ORDER BY i.id
   ON CONFLICT (item_id, kind) DO NOTHING RETURNING item_id, order_id`,
);

// Of what the ledger does not have yet.
const readPaidLines = statement(
  'ledger.paid_lines',
  `SELECT i.order_id, i.id AS item_id, o.currency, i.total_amount, i.vat_amount, i.royalty_amount,
     c.settlement_currency, r.rate_date, r.rate_from::text, r.rate_to::text
   FROM orders o
   JOIN order_items i ON i.order_id = o.id
   LEFT JOIN creators c ON c.id = o.creator_id
   LEFT JOIN ${rateOfPayment({ currency: 'o.currency', day: paidOn })} ON true
   WHERE o.id = ANY($1::uuid[]) AND o.charged_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM ledger s WHERE s.item_id = i.id AND s.kind = 'sale')`,
);

const bookSales = statement(
  'ledger.book_sales',
  `INSERT INTO ledger (${ledgerColumns}, rate_date, rate_from, rate_to)
   SELECT i.id, 'sale', o.id, o.creator_id, o.charged_at, ${postingMonth('o.charged_at')}, i.release_id,
     i.ean, i.quantity, o.currency, i.total_amount, i.vat_amount, i.royalty_amount, b.settlement_currency,
     b.settled_revenue, b.settled_vat, b.settled_royalty, b.rate_date, b.rate_from, b.rate_to
   FROM jsonb_to_recordset($1::jsonb) AS b(item_id uuid, settlement_currency text, settled_revenue bigint,
     settled_vat bigint, settled_royalty bigint, rate_date date, rate_from numeric, rate_to numeric)
   JOIN order_items i ON i.id = b.item_id JOIN orders o ON o.id = i.order_id
   ORDER BY i.id
   ON CONFLICT (item_id, kind) DO NOTHING RETURNING item_id, order_id`,
);

// A refund is its sale turned round, at the rate of the sale: together they come to nothing, to the last unit.
const bookRefunds = statement(
  'ledger.book_refunds',
  `INSERT INTO ledger (${ledgerColumns}, rate_date, rate_from, rate_to)
   SELECT s.item_id, 'refund', s.order_id, s.creator_id, o.refunded_at, ${postingMonth('o.refunded_at')},
     s.release_id, s.ean, -s.units, s.currency, -s.revenue, -s.vat, -s.royalty, s.settlement_currency,
     -s.settled_revenue, -s.settled_vat, -s.settled_royalty, s.rate_date, s.rate_from, s.rate_to
   FROM orders o JOIN order_items i ON i.order_id = o.id JOIN ledger s ON s.item_id = i.id AND s.kind = 'sale'
   WHERE o.id = ANY($1::uuid[]) AND o.refunded_at IS NOT NULL
   ORDER BY s.item_id
   ON CONFLICT (item_id, kind) DO NOTHING RETURNING item_id, order_id`,
);

// Only rows the ledger has just taken are added, so the sums take each exactly once.
const addToMonths = statement(
  'statistics.add',
  `INSERT INTO monthly_statistics AS m (creator_id, period, currency, release_id, ean, units, revenue, royalties)
   SELECT creator_id, period, settlement_currency, release_id, ean, sum(units), sum(settled_revenue), sum(settled_royalty)
   FROM ledger
   WHERE (item_id = ANY($1::uuid[]) AND kind = 'sale') OR (item_id = ANY($2::uuid[]) AND kind = 'refund')
   GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
   ON CONFLICT (creator_id, period, currency, release_id, ean) DO UPDATE
     SET units = m.units + excluded.units, revenue = m.revenue + excluded.revenue,
       royalties = m.royalties + excluded.royalties`,
);

const wait = statement(
  'bookings.wait',
  `INSERT INTO waiting_bookings AS w (order_id, creator_id, currency, paid_on)
   SELECT o.id, o.creator_id, o.currency, ${paidOn} FROM orders o WHERE o.id = ANY($1::uuid[]) ORDER BY o.id
   ON CONFLICT (order_id) DO UPDATE
     SET creator_id = excluded.creator_id, currency = excluded.currency, paid_on = excluded.paid_on
     WHERE (w.creator_id, w.currency, w.paid_on) IS DISTINCT FROM (excluded.creator_id, excluded.currency, excluded.paid_on)`,
);
const stopWaiting = statement(
  'bookings.stop_waiting',
  'DELETE FROM waiting_bookings WHERE order_id = ANY($1::uuid[])',
);

/** A row that the ledger did not have before. */
interface BookedRow extends Record<string, unknown> {
  item_id: string;
  order_id: string;
}

interface PaidLineRow extends PaidLine {
  order_id: string;
}

/**
 * Books the money that moved for these orders: a sale per line in the month it was paid, a refund per line in the month it
 * was refunded, and both into the sums of their months. When such a month is closed, they go to the first open month
 * (ADR 28). Each is booked once, however often this runs. An order whose creator or exchange rate is not known yet waits
 * whole. The caller holds the orders' row locks.
 */
export async function bookOrders(tx: Transaction, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return;
  const refund = (): Promise<BookedRow[]> => tx.rows<BookedRow>(bookRefunds, [orderIds]);
  const [, own, refundedFirst] = await Promise.all([
    tx.run(holdMonthsOpen), // before the statements that choose months
    tx.rows<BookedRow>(bookOwnCurrency, [orderIds]),
    refund(), // goes out with it, and sees its rows
  ]);
  const ownOrders = new Set(own.map((row) => row.order_id));
  // What is left is asked of the ledger, not of currencies: a creator may come, or change, between two statements.
  const others = orderIds.filter((id) => !ownOrders.has(id));
  const lines = others.length === 0 ? [] : await tx.rows<PaidLineRow>(readPaidLines, [others]);
  const waiting = new Set<string>();
  const bookings = lines.flatMap((line) => {
    const booking = bookingOf(line);
    if (booking === undefined) waiting.add(line.order_id);
    return booking === undefined ? [] : [booking];
  });
  const converted =
    bookings.length === 0 ? [] : await tx.rows<BookedRow>(bookSales, [JSON.stringify(bookings)]);
  const refunded = converted.length === 0 ? refundedFirst : [...refundedFirst, ...(await refund())];
  const sold = [...own, ...converted];
  // In one statement, in one order: replicas that share months wait, none deadlock.
  const isNews = sold.length + refunded.length > 0;
  await Promise.all([
    isNews && tx.run(addToMonths, [itemsOf(sold), itemsOf(refunded)]),
    waiting.size > 0 && tx.run(wait, [[...waiting]]),
    tx.run(stopWaiting, [orderIds.filter((id) => !waiting.has(id))]),
  ]);
}

function itemsOf(rows: readonly BookedRow[]): string[] {
  return rows.map((row) => row.item_id);
}
