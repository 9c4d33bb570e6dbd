import { type Database, statement } from '@fulfilment/database';

const lockKeySql = `hashtextextended('statistics-close', 0)`;

/** Every posting holds this shared lock until its commit, so that the month that it chose stays open. */
export const lockMonthsShared = statement(
  'months.lock-shared',
  `SELECT pg_advisory_xact_lock_shared(${lockKeySql})`,
);
const lockMonthsExclusive = statement('months.lock-exclusive', `SELECT pg_advisory_xact_lock(${lockKeySql})`);

/**
 * SQL: the month of a posting. The transaction must have run `lockMonthsShared` in an earlier statement: a
 * statement that waits for the lock itself does not see the month that was closed while it waited.
 */
export function postingMonthSql(occurredAt: string): string {
  return `GREATEST(to_char(${occurredAt} AT TIME ZONE 'UTC', 'YYYY-MM'), (SELECT first_open_month FROM statistics_close))`;
}

// SQL: the first open month with the close day $1 at the time $2. A month is open until the close day of the
// next one begins: close day 5 keeps October open until 5 November, 00:00 UTC.
const firstOpenMonthSql = `to_char(COALESCE($2::timestamptz, now()) AT TIME ZONE 'UTC' - make_interval(days => $1 - 1), 'YYYY-MM')`;
const findDueMonth = statement(
  'months.due',
  `SELECT 1 AS due FROM statistics_close WHERE first_open_month < ${firstOpenMonthSql}`,
);
const close = statement(
  'months.close',
  `UPDATE statistics_close SET first_open_month = ${firstOpenMonthSql}, changed_at = now()
   WHERE first_open_month < ${firstOpenMonthSql} RETURNING first_open_month`,
);

/**
 * Closes the months that are due. The sums of a closed month never change: later postings go to the first
 * open month.
 * @param options.closeDay day of the following month, 1 to 28, on which a month closes (00:00 UTC); 0 closes
 *   none
 * @param options.now for tests; by default the database's clock decides
 * @returns the first open month if this call closed a month
 */
export async function closeMonths(
  database: Database,
  { closeDay, now }: { readonly closeDay: number; readonly now?: Date },
): Promise<string | undefined> {
  if (closeDay === 0) return undefined;
  const values = [closeDay, now ?? null];
  // Checked before the exclusive lock is taken: all postings would wait for it at each poll.
  if ((await database.row(findDueMonth, values)) === undefined) return undefined;
  return database.transaction(async (tx) => {
    await tx.run(lockMonthsExclusive);
    return (await tx.row<{ first_open_month: string }>(close, values))?.first_open_month;
  });
}
