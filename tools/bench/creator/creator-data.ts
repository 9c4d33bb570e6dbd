import { eventually } from '../../dev/eventually.ts';
import { BenchDatabase } from '../bench-database.ts';
import { releaseCount, releaseIdInSql } from '../placed-order.ts';

export const bigCreator = '01900000-0000-7000-8000-000000000001';
export const smallCreator = '01900000-0000-7000-8000-000000000002';
/** The creator whose orders are published as messages. */
export const busyCreator = '01900000-0000-7000-8000-000000000003';
export const organisation = 'org_bench';
/** Number of orders of the small creator. */
export const smallCount = 1000;
/** The orders and postings are spread over this time before now. */
const historySeconds = 2 * 365 * 24 * 3600;

const insertCreators = (ids: string) => `
  INSERT INTO creators (id, version, organisation_id, name, settlement_currency, registered_at)
  SELECT id, 1, '${organisation}', 'Bench', 'GBP', now() FROM unnest(${ids}::uuid[]) AS id`;

/**
 * Paid orders of two years, with one line each, of a release that the hash of the order's id selects. A line
 * costs 2499, with 416 of VAT (20 %) and 312 of royalty (15 % of the rest).
 */
const insertOrders = `
  WITH placed AS (
    INSERT INTO orders (id, creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount,
                        royalty_amount, item_count, charged_at)
    SELECT gen_random_uuid(), $1, 2, at, 'GBP', 'paid', CASE n % 3 WHEN 0 THEN 'in_production' WHEN 1 THEN 'dispatched' ELSE 'delivered' END, '',
           2499, 312, 1, at
    FROM generate_series(1, $2::int) AS n, LATERAL (SELECT now() - n * (interval '1 second' * ${historySeconds} / $2::int) AS at) AS moment
    RETURNING id, creator_id
  )
  INSERT INTO order_items (order_id, position, id, creator_id, release_id, release_title, product_type, ean, quantity, unit_amount, total_amount,
                           vat_amount, royalty_amount, royalty_rate)
  SELECT id, 0, gen_random_uuid(), creator_id,
         ${releaseIdInSql(`abs(hashtext(id::text)) % ${releaseCount}`)}, 'Release', 'vinyl_12_lp', '2000000000015', 1,
         2499, 2499, 416, 312, 1500
  FROM placed`;

const insertCounts = `
  INSERT INTO order_counts (creator_id, placed_on, payment_status, dispatch_status, orders)
  SELECT creator_id, (placed_at AT TIME ZONE 'UTC')::date, payment_status, dispatch_status, count(*) FROM orders WHERE creator_id = $1 GROUP BY 1, 2, 3, 4`;
const insertMonthlySums = `
  INSERT INTO monthly_statistics (creator_id, period, currency, release_id, ean, units, revenue, royalties)
  SELECT o.creator_id, to_char(o.charged_at AT TIME ZONE 'UTC', 'YYYY-MM'), 'GBP', i.release_id, i.ean, sum(i.quantity), sum(i.total_amount), sum(i.royalty_amount)
  FROM orders o JOIN order_items i ON i.order_id = o.id WHERE o.creator_id = $1 GROUP BY 1, 2, 3, 4, 5`;

const insertPostings = `
  INSERT INTO ledger (item_id, kind, order_id, creator_id, occurred_at, period, release_id, ean, units, currency, revenue, vat, royalty,
                      settlement_currency, settled_revenue, settled_vat, settled_royalty)
  SELECT gen_random_uuid(), 'sale', gen_random_uuid(), (ARRAY['${bigCreator}', '${smallCreator}']::uuid[])[1 + n % 2], at,
         to_char(at AT TIME ZONE 'UTC', 'YYYY-MM'), ${releaseIdInSql(`n % ${releaseCount}`)}, '2000000000015', 1,
         'GBP', 2499, 416, 312, 'GBP', 2499, 416, 312
  FROM generate_series($1::int, $2::int - 1) AS n, LATERAL (SELECT now() - n % ${historySeconds} * interval '1 second' AS at) AS moment`;
const postingsAtOnce = 1_000_000;
const statementsTimeoutMs = 1_800_000;
const pollIntervalMs = 500;

/** The database of a Creator API under measurement. */
export class CreatorData extends BenchDatabase {
  static override readonly setup = [
    insertCreators(`ARRAY['${bigCreator}', '${smallCreator}', '${busyCreator}']`),
  ];

  async addCreators(ids: readonly string[]): Promise<void> {
    await this.client.query(insertCreators('$1'), [ids]);
  }

  /** Adds orders with the counts and monthly sums that the measured reads need. */
  async addOrders(creatorId: string, count: number): Promise<void> {
    await this.client.query(insertOrders, [creatorId, count]);
    await this.client.query(insertCounts, [creatorId]);
    await this.client.query(insertMonthlySums, [creatorId]);
  }

  /** Adds postings of past sales of the big and the small creator. */
  async addPostings(count: number): Promise<void> {
    for (let from = 0; from < count; from += postingsAtOnce)
      await this.client.query(insertPostings, [from, Math.min(from + postingsAtOnce, count)]);
    await this.vacuum();
  }

  /** Resolves when creator-api has issued the statements of all closed months of the postings. */
  async waitForStatements(): Promise<void> {
    // '0001-01' is the initial value, before the first month is closed.
    const issued =
      "SELECT FROM statistics_close WHERE first_open_month > '0001-01' AND statements_before >= first_open_month";
    const areIssued = async () => (await this.client.query(issued)).rowCount === 1;
    await eventually(areIssued, statementsTimeoutMs, 'the statements are issued', pollIntervalMs);
  }

  /**
   * Returns counts and sums of the rows that were written for the messages of the busy creator. Until
   * `addPostings`, the ledger and the releases have only rows of this creator.
   */
  async countProjected(): Promise<Record<string, string> | undefined> {
    const { rows } = await this.client.query<Record<string, string>>(
      `SELECT (SELECT count(*) FROM orders WHERE creator_id = $1) AS orders, (SELECT count(*) FROM order_items WHERE creator_id = $1) AS items,
              (SELECT sum(orders) FROM order_counts WHERE creator_id = $1) AS counted, (SELECT count(*) FROM ledger) AS ledger,
              (SELECT sum(units) FROM monthly_statistics WHERE creator_id = $1) AS units,
              (SELECT sum(orders) FROM order_counts_by_app WHERE creator_id = $1) AS counted_by_app, (SELECT count(*) FROM ordered_releases) AS releases,
              (SELECT sum(units) FROM monthly_breakdown WHERE creator_id = $1) AS broken_down,
              (SELECT sum(units) FROM monthly_app_breakdown WHERE creator_id = $1) AS broken_down_by_app`,
      [busyCreator],
    );
    return rows[0];
  }
}
