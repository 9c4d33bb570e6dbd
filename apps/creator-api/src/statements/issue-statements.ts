import { type Database, type Sql, statement, type Transaction } from '@fulfilment/database';
import { createHash } from 'node:crypto';
import { statementCsv } from './statement-csv.js';

// The next statement of each creator: for the first closed month and currency that have postings and come
// after the month and currency of the last statement.
const findNext = statement(
  'statements.next',
  `SELECT creator.id AS "creatorId", COALESCE(last.number, 0) + 1 AS number, next.period, next.currency
   FROM unnest($1::uuid[]) AS creator(id)
   LEFT JOIN LATERAL (
     SELECT number, period, currency FROM statements WHERE creator_id = creator.id ORDER BY number DESC LIMIT 1
   ) last ON true
   CROSS JOIN LATERAL (
     SELECT period, settlement_currency AS currency FROM ledger
     WHERE creator_id = creator.id AND (period, settlement_currency) > (COALESCE(last.period, ''), COALESCE(last.currency, ''))
       AND period < (SELECT first_open_month FROM statistics_close)
     ORDER BY period, settlement_currency LIMIT 1
   ) next`,
);
const lockCreator = statement(
  'statements.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('statements ' || $1, 0))`,
);
const insert = statement(
  'statements.insert',
  `INSERT INTO statements (creator_id, number, period, currency, lines, units, revenue, royalties, csv_bytes, csv_sha256)
   VALUES (:creator_id, :number, :period, :currency, :lines, :units, :revenue, :royalties, :csv_bytes, :csv_sha256)`,
);

interface NextStatement {
  readonly creatorId: string;
  readonly number: number;
  readonly period: string;
  readonly currency: string;
}

/** Returns the creators with postings in closed months that have no statement yet. */
export async function creatorsWithMissingStatements(
  sql: Sql,
  creatorIds: readonly string[],
): Promise<string[]> {
  const next = await sql.rows<NextStatement>(findNext, [creatorIds]);
  return next.map(({ creatorId }) => creatorId);
}

/** Issues all missing statements of a creator, each in a separate transaction. Returns their number. */
export async function issueStatements(database: Database, creatorId: string): Promise<number> {
  let issued = 0;
  while (await database.transaction((tx) => issueNext(tx, creatorId))) issued += 1;
  return issued;
}

/**
 * Issues the next statement of a creator. Returns whether one was missing. The number of the statement is one
 * more than the last stored one, read under a lock of the creator. So concurrent replicas use different
 * numbers, and a process that dies leaves no gap.
 */
export async function issueNext(tx: Transaction, creatorId: string): Promise<boolean> {
  await tx.run(lockCreator, [creatorId]);
  const next = await tx.row<NextStatement>(findNext, [[creatorId]]);
  if (next === undefined) return false;
  const digest = createHash('sha256');
  let lines = 0;
  let csvBytes = 0;
  let units = 0n;
  let revenue = 0n;
  let royalties = 0n;
  for await (const part of statementCsv(tx, next)) {
    digest.update(part.text);
    csvBytes += Buffer.byteLength(part.text);
    lines += part.lines;
    units += part.units;
    revenue += part.revenue;
    royalties += part.royalties;
  }
  await tx.run(insert, {
    ...next,
    creator_id: creatorId,
    lines,
    units: String(units),
    revenue: String(revenue),
    royalties: String(royalties),
    csv_bytes: csvBytes,
    csv_sha256: digest.digest(),
  });
  return true;
}
