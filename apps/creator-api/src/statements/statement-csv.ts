import { nilUuid, publicId } from '@fulfilment/contracts';
import { keysetPages, type Sql, statement } from '@fulfilment/database';
import type { LedgerRow } from '../ledger/ledger-row.js';
import { csvLine } from '../text-output/csv.rules.js';

const linesPerPage = 1000;

// $4 to $6 identify the last line of the previous page; null for the first page.
// GREATEST, not COALESCE, as LEAST in export-orders.ts.
export const readPage = statement(
  'statements.lines',
  `SELECT kind, order_id, item_id, occurred_at, (extract(epoch FROM occurred_at) * 1000000)::bigint AS occurred_at_micros, release_id, ean, units,
     currency, revenue::text, vat::text, royalty::text, settlement_currency, settled_revenue::text, settled_vat::text, settled_royalty::text,
     COALESCE(rate_date::text, '') AS rate_date, COALESCE(rate_from::text, '') AS rate_from, COALESCE(rate_to::text, '') AS rate_to
   FROM ledger WHERE creator_id = $1 AND period = $2 AND settlement_currency = $3
     AND (occurred_at, item_id, kind) > (GREATEST('epoch'::timestamptz + $4::bigint * interval '1 microsecond', '-infinity'),
       GREATEST($5::uuid, '${nilUuid}'), GREATEST($6::text, ''))
   ORDER BY occurred_at, item_id, kind LIMIT ${linesPerPage}`,
);

interface LineRow extends LedgerRow {
  readonly rate_date: string;
  readonly rate_from: string;
  readonly rate_to: string;
}

/** The month of a statement. */
interface StatementMonth {
  readonly creatorId: string;
  readonly period: string;
  readonly currency: string;
}

/** A part of the CSV file, with the sums of its lines. */
interface CsvPart {
  readonly text: string;
  readonly lines: number;
  readonly units: bigint;
  readonly revenue: bigint;
  readonly royalties: bigint;
}

/**
 * The columns of the file, in order. Amounts are bigints, since `csvLine` puts an apostrophe before text that
 * begins with a minus sign.
 */
const columns: Readonly<Record<string, (row: LineRow) => string | number | bigint>> = {
  kind: (row) => row.kind,
  order: (row) => row.order_id,
  human_order_id: (row) => publicId('ord', row.order_id),
  item: (row) => row.item_id,
  occurred_at: (row) => row.occurred_at.toISOString(),
  release_group: (row) => row.release_id,
  ean: (row) => row.ean,
  units: (row) => row.units,
  currency: (row) => row.currency,
  revenue: (row) => BigInt(row.revenue),
  vat: (row) => BigInt(row.vat),
  royalty: (row) => BigInt(row.royalty),
  settlement_currency: (row) => row.settlement_currency,
  settled_revenue: (row) => BigInt(row.settled_revenue),
  settled_vat: (row) => BigInt(row.settled_vat),
  settled_royalty: (row) => BigInt(row.settled_royalty),
  rate_date: (row) => row.rate_date,
  rate_from: (row) => row.rate_from,
  rate_to: (row) => row.rate_to,
};

/**
 * Yields the CSV file of a statement. The digests of issued statements depend on every byte, so the format
 * must never change, and the file has only columns of the ledger, which never change.
 */
export async function* statementCsv(
  sql: Sql,
  { creatorId, period, currency }: StatementMonth,
): AsyncGenerator<CsvPart> {
  yield { text: csvLine(Object.keys(columns)), lines: 0, units: 0n, revenue: 0n, royalties: 0n };
  const pages = keysetPages<LineRow>(linesPerPage, (last) =>
    sql.rows(readPage, [creatorId, period, currency, last?.occurred_at_micros, last?.item_id, last?.kind]),
  );
  for await (const rows of pages)
    yield {
      text: rows.map(formatLine).join(''),
      lines: rows.length,
      units: sum(rows.map(({ units }) => BigInt(units))),
      revenue: sum(rows.map((row) => BigInt(row.settled_revenue))),
      royalties: sum(rows.map((row) => BigInt(row.settled_royalty))),
    };
}

function formatLine(row: LineRow): string {
  return csvLine(Object.values(columns).map((cell) => cell(row)));
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
