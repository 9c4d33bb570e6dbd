import type { Currency } from '@fulfilment/contracts';
import { exactSums, type SumsRow } from './exact-sums.js';
import type { MonthSums, SeriesView } from './series.shapes.js';

type Sums = Omit<MonthSums, 'period'>;

/** Sums of a month, and of a group in a month. */
export interface MonthRow extends SumsRow {
  readonly period: string;
}
export interface GroupRow extends MonthRow {
  readonly key: string;
}

/**
 * Shows the months of a range and their groups. What the groups lack of a month is in `other`, so that both
 * always add up to the month.
 * @param groups in the order of the response; undefined if the series is not grouped
 */
export function seriesView(
  months: readonly string[],
  currency: Currency,
  rows: readonly MonthRow[],
  groups?: readonly GroupRow[],
): SeriesView {
  const sumsByMonth = new Map(rows.map((row) => [row.period, exactSums(row)]));
  const allMonths = months.map((period) => ({ period, ...(sumsByMonth.get(period) ?? zeros) }));
  const rowsByKey = Map.groupBy(groups ?? [], ({ key }) => key);
  const ungrouped = new Map(allMonths.map((month) => [month.period, month]));
  for (const row of groups ?? []) {
    const month = ungrouped.get(row.period);
    if (month !== undefined) ungrouped.set(row.period, { ...month, ...add(month, exactSums(row), -1) });
  }
  return {
    from: months[0] ?? '',
    to: months.at(-1) ?? '',
    currency,
    ...withTotals(allMonths),
    groups:
      groups === undefined
        ? null
        : [...rowsByKey].map(([key, groupRows]) => ({
            key,
            ...withTotals(groupRows.map((row) => ({ period: row.period, ...exactSums(row) }))),
          })),
    other: groups === undefined ? null : withTotals([...ungrouped.values()]),
  };
}

const zeros: Sums = exactSums();

function withTotals(months: MonthSums[]): { totals: Sums; months: MonthSums[] } {
  return { totals: months.reduce((sum, month) => add(sum, month), zeros), months };
}

function add(one: Sums, other: Sums, sign: 1 | -1 = 1): Sums {
  return {
    units: one.units + sign * other.units,
    revenue: one.revenue + BigInt(sign) * other.revenue,
    royalties: one.royalties + BigInt(sign) * other.royalties,
  };
}
