import { type Database, statement } from '@fulfilment/database';

// Nobody books meanwhile; reading goes on.
const holdBookings = statement(
  'statistics.hold',
  'LOCK TABLE ledger, monthly_statistics IN SHARE ROW EXCLUSIVE MODE',
);

const sums = `SELECT creator_id, period, settlement_currency AS currency, release_id, ean, sum(units) AS units,
  sum(settled_revenue) AS revenue, sum(settled_royalty) AS royalties FROM ledger GROUP BY 1, 2, 3, 4, 5`;

const compare = statement(
  'statistics.compare',
  `SELECT count(*) AS rows,
     count(*) FILTER (WHERE (l.units, l.revenue, l.royalties) IS DISTINCT FROM (m.units, m.revenue, m.royalties)) AS differing
   FROM (${sums}) l FULL JOIN monthly_statistics m USING (creator_id, period, currency, release_id, ean)`,
);
const clear = statement('statistics.clear', 'DELETE FROM monthly_statistics');
const fill = statement(
  'statistics.fill',
  `INSERT INTO monthly_statistics (creator_id, period, currency, release_id, ean, units, revenue, royalties) ${sums}`,
);

export interface RebuiltStatistics {
  readonly rows: number;
  /** Rows that were not what the ledger says; 0 unless somebody changed them by hand. */
  readonly differed: number;
}

/** Sums the ledger anew and says how many of the kept sums were wrong. */
export function rebuildStatistics(database: Database): Promise<RebuiltStatistics> {
  return database.transaction(async (tx) => {
    await tx.run(holdBookings);
    const found = await tx.row<{ differing: number }>(compare);
    await tx.run(clear);
    return { rows: await tx.run(fill), differed: found?.differing ?? 0 };
  });
}
