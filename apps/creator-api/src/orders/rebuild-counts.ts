import { type Database, statement } from '@fulfilment/database';

// Nobody counts meanwhile: who has written orders and not their counts yet waits here, and is not seen.
const holdCounts = statement('counts.hold', 'LOCK TABLE order_counts IN SHARE ROW EXCLUSIVE MODE');

const counted = `SELECT creator_id, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status,
  count(*) AS orders FROM orders GROUP BY 1, 2, 3, 4`;

const compare = statement(
  'counts.compare',
  `SELECT count(*) FILTER (WHERE COALESCE(o.orders, 0) <> COALESCE(c.orders, 0)) AS differing
   FROM (${counted}) o FULL JOIN order_counts c USING (creator_id, placed_on, payment_status, dispatch_status)`,
);
const clear = statement('counts.clear', 'DELETE FROM order_counts');
const fill = statement(
  'counts.fill',
  `INSERT INTO order_counts (creator_id, placed_on, payment_status, dispatch_status, orders) ${counted}`,
);

export interface RebuiltCounts {
  readonly rows: number;
  /** Counts that were not what the orders say. */
  readonly differed: number;
}

/** Counts the orders anew and says how many of the kept counts were wrong. */
export function rebuildCounts(database: Database): Promise<RebuiltCounts> {
  return database.transaction(async (tx) => {
    await tx.run(holdCounts);
    const found = await tx.row<{ differing: number }>(compare);
    await tx.run(clear);
    return { rows: await tx.run(fill), differed: found?.differing ?? 0 };
  });
}
