import { pipelined, statement, type Transaction } from '@fulfilment/database';
import { appBreakdownKey, breakdownKey, selectPostingsSql, monthKey, sumsBySql } from './ledger-sums.sql.js';
import { convertLine, type PaidLine } from './convert-line.rules.js';
import { lockMonthsShared, postingMonthSql } from './close-months.js';
import { settlementRateSql } from './settlement-rate.sql.js';

const paidOnSql = `(o.charged_at AT TIME ZONE 'UTC')::date`;
const ledgerColumns = `item_id, kind, order_id, creator_id, occurred_at, period, release_id, ean, units, currency, revenue,
     vat, royalty, settlement_currency, settled_revenue, settled_vat, settled_royalty`;

// Lines in the settlement currency need no conversion, so one statement reads and posts them.
const postSameCurrency = statement(
  'ledger.post-same-currency',
  `INSERT INTO ledger (${ledgerColumns})
   SELECT i.id, 'sale', o.id, o.creator_id, o.charged_at, ${postingMonthSql('o.charged_at')}, i.release_id,
     i.ean, i.quantity, o.currency, i.total_amount, i.vat_amount, i.royalty_amount, o.currency, i.total_amount, i.vat_amount,
     i.royalty_amount
   FROM orders o JOIN order_items i ON i.order_id = o.id JOIN creators c ON c.id = o.creator_id
   WHERE o.id = ANY($1::uuid[]) AND o.charged_at IS NOT NULL AND o.currency = c.settlement_currency
   ORDER BY i.id
   ON CONFLICT (item_id, kind) DO NOTHING RETURNING item_id, order_id`,
);

// Reads the paid lines that the ledger does not have yet.
const readPaidLines = statement(
  'ledger.paid-lines',
  `SELECT i.order_id, i.id AS item_id, o.currency, i.total_amount, i.vat_amount, i.royalty_amount,
     c.settlement_currency, r.rate_date, r.rate_from::text, r.rate_to::text
   FROM orders o
   JOIN order_items i ON i.order_id = o.id
   LEFT JOIN creators c ON c.id = o.creator_id
   LEFT JOIN ${settlementRateSql({ currency: 'o.currency', day: paidOnSql })} ON true
   WHERE o.id = ANY($1::uuid[]) AND o.charged_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM ledger s WHERE s.item_id = i.id AND s.kind = 'sale')`,
);

const postConvertedSales = statement(
  'ledger.post-converted-sales',
  `INSERT INTO ledger (${ledgerColumns}, rate_date, rate_from, rate_to)
   SELECT i.id, 'sale', o.id, o.creator_id, o.charged_at, ${postingMonthSql('o.charged_at')}, i.release_id,
     i.ean, i.quantity, o.currency, i.total_amount, i.vat_amount, i.royalty_amount, converted.settlement_currency,
     converted.settled_revenue, converted.settled_vat, converted.settled_royalty, converted.rate_date,
     converted.rate_from, converted.rate_to
   FROM jsonb_to_recordset($1::jsonb) AS converted(item_id uuid, settlement_currency text, settled_revenue bigint,
     settled_vat bigint, settled_royalty bigint, rate_date date, rate_from numeric, rate_to numeric)
   JOIN order_items i ON i.id = converted.item_id JOIN orders o ON o.id = i.order_id
   ORDER BY i.id
   ON CONFLICT (item_id, kind) DO NOTHING RETURNING item_id, order_id`,
);

// A refund is its sale negated, at the rate of the sale: their sum is exactly zero.
const postRefunds = statement(
  'ledger.post-refunds',
  `INSERT INTO ledger (${ledgerColumns}, rate_date, rate_from, rate_to)
   SELECT s.item_id, 'refund', s.order_id, s.creator_id, o.refunded_at, ${postingMonthSql('o.refunded_at')},
     s.release_id, s.ean, -s.units, s.currency, -s.revenue, -s.vat, -s.royalty, s.settlement_currency,
     -s.settled_revenue, -s.settled_vat, -s.settled_royalty, s.rate_date, s.rate_from, s.rate_to
   FROM orders o JOIN order_items i ON i.order_id = o.id JOIN ledger s ON s.item_id = i.id AND s.kind = 'sale'
   WHERE o.id = ANY($1::uuid[]) AND o.refunded_at IS NOT NULL
   ORDER BY s.item_id
   ON CONFLICT (item_id, kind) DO NOTHING RETURNING item_id, order_id`,
);

/** SQL: adds the sums of the rows of `posting` to a table. */
const addPostingsToSql = (table: string, key: string, condition = 'true'): string =>
  `INSERT INTO ${table} AS m (${key}, units, revenue, royalties)
   SELECT ${sumsBySql(key)} FROM posting WHERE ${condition} GROUP BY ${key} ORDER BY ${key}
   ON CONFLICT (${key}) DO UPDATE
     SET units = m.units + excluded.units, revenue = m.revenue + excluded.revenue,
       royalties = m.royalties + excluded.royalties`;

// Adds only rows that were just inserted into the ledger, so each is added exactly once. The conditions on
// count(*) are always true: each makes an INSERT wait for the one before. So all transactions lock tables in
// one order, and the rows of a table in the order of its key, and replicas cannot deadlock.
const addToMonths = statement(
  'statistics.add-postings',
  `WITH posting AS MATERIALIZED (${selectPostingsSql(
    "(l.item_id = ANY($1::uuid[]) AND l.kind = 'sale') OR (l.item_id = ANY($2::uuid[]) AND l.kind = 'refund')",
  )}),
   month AS (${addPostingsToSql('monthly_statistics', monthKey)} RETURNING 1),
   breakdown AS (
     ${addPostingsToSql('monthly_breakdown', breakdownKey, '(SELECT count(*) FROM month) >= 0')} RETURNING 1)
   ${addPostingsToSql('monthly_app_breakdown', appBreakdownKey, '(SELECT count(*) FROM breakdown) >= 0')}`,
);

// waiting_postings has the orders whose posting waits for the creator or the exchange rate.
const insertWaiting = statement(
  'postings.insert-waiting',
  `INSERT INTO waiting_postings AS w (order_id, creator_id, currency, paid_on)
   SELECT o.id, o.creator_id, o.currency, ${paidOnSql} FROM orders o WHERE o.id = ANY($1::uuid[]) ORDER BY o.id
   ON CONFLICT (order_id) DO UPDATE
     SET creator_id = excluded.creator_id, currency = excluded.currency, paid_on = excluded.paid_on
     WHERE (w.creator_id, w.currency, w.paid_on) IS DISTINCT FROM (excluded.creator_id, excluded.currency, excluded.paid_on)`,
);
const deleteWaiting = statement(
  'postings.delete-waiting',
  'DELETE FROM waiting_postings WHERE order_id = ANY($1::uuid[])',
);

/** A row that was inserted into the ledger. */
interface PostedRow {
  item_id: string;
  order_id: string;
}

interface PaidLineRow extends PaidLine {
  order_id: string;
}

/**
 * Posts the sales and refunds of orders to the ledger: a sale per line in the month of the payment, a refund
 * per line in the month of the refund. If that month is closed, the first open month is used instead (ADR
 * 28). Adds the postings to the sums of their months. Repeated calls post nothing twice. An order whose
 * creator or exchange rate is unknown waits. The caller must hold the row locks of the orders.
 */
export async function postOrders(
  tx: Transaction,
  orders: readonly { readonly id: string; readonly refunded_at: string | Date | null }[],
): Promise<void> {
  if (orders.length === 0) return;
  const orderIds = orders.map(({ id }) => id);
  const refundedIds = orders.filter(({ refunded_at }) => refunded_at !== null).map(({ id }) => id);
  const postAllRefunds = async (): Promise<PostedRow[]> =>
    refundedIds.length === 0 ? [] : tx.rows<PostedRow>(postRefunds, [refundedIds]);
  const [, sameCurrency, refundsBeforeConversion] = await pipelined([
    tx.run(lockMonthsShared), // before the statements that choose the month
    tx.rows<PostedRow>(postSameCurrency, [orderIds]),
    postAllRefunds(), // runs after the sales, so it sees their rows
  ]);
  const postedOrders = new Set(sameCurrency.map((row) => row.order_id));
  const remainingIds = orderIds.filter((id) => !postedOrders.has(id));
  const converted = await postWithConversion(tx, remainingIds);
  // The refunds of the sales that were just converted.
  const refundsAfterConversion = converted.sales.length === 0 ? [] : await postAllRefunds();
  const sales = [...sameCurrency, ...converted.sales];
  const refunds = [...refundsBeforeConversion, ...refundsAfterConversion];
  const hasPosted = sales.length + refunds.length > 0;
  const { waitingIds } = converted;
  await pipelined([
    hasPosted && tx.run(addToMonths, [itemIds(sales), itemIds(refunds)]),
    waitingIds.size > 0 && tx.run(insertWaiting, [[...waitingIds]]),
    tx.run(deleteWaiting, [orderIds.filter((id) => !waitingIds.has(id))]),
  ]);
}

/**
 * Posts the remaining sales. Most need conversion, but some may be in the settlement currency: their creator
 * was added or changed after the first statement. Also returns the orders whose creator or exchange rate is
 * unknown.
 */
async function postWithConversion(
  tx: Transaction,
  orderIds: readonly string[],
): Promise<{ sales: PostedRow[]; waitingIds: Set<string> }> {
  const lines = orderIds.length === 0 ? [] : await tx.rows<PaidLineRow>(readPaidLines, [orderIds]);
  const waitingIds = new Set<string>();
  const convertedLines = lines.flatMap((line) => {
    const converted = convertLine(line);
    if (converted === undefined) waitingIds.add(line.order_id);
    return converted === undefined ? [] : [converted];
  });
  if (convertedLines.length === 0) return { sales: [], waitingIds };
  const sales = await tx.rows<PostedRow>(postConvertedSales, [JSON.stringify(convertedLines)]);
  return { sales, waitingIds };
}

function itemIds(rows: readonly PostedRow[]): string[] {
  return rows.map((row) => row.item_id);
}
