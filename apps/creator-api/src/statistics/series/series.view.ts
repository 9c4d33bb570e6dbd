import type { Currency } from '@fulfilment/contracts';
import { exactSums, type SumsRow } from '../exact-sums.js';
import type { MonthSums, SeriesView } from './series.shapes.js';

type Sums = Omit<MonthSums, 'period'>;

/** Sums of a month. */
export interface MonthRow extends SumsRow {
  readonly period: string;
}
/** Sums of a group in a month. */
export interface GroupRow extends MonthRow {
  /** Value of the dimension, such as a country code. */
  readonly key: string;
}

interface SeriesRows {
  /** All months of the range, in order. */
  readonly months: readonly string[];
  readonly currency: Currency;
  /** Months without postings have no row. */
  readonly monthRows: readonly MonthRow[];
  /** In the order of the response; undefined if the series is not grouped. */
  readonly groupRows: readonly GroupRow[] | undefined;
}

/** Shows the months of a range and their groups. `other` is the difference between a month and its groups. */
export function seriesView({ months, currency, monthRows, groupRows }: SeriesRows): SeriesView {
  const sumsByMonth = new Map(monthRows.map((row) => [row.period, exactSums(row)]));
  const allMonths = months.map((period) => ({ period, ...(sumsByMonth.get(period) ?? zeros) }));
  return {
    from: months[0] ?? '',
    to: months.at(-1) ?? '',
    currency,
    ...withTotals(allMonths),
    groups: groupRows === undefined ? null : groupViews(groupRows),
    other: groupRows === undefined ? null : withTotals(subtractGroups(allMonths, groupRows)),
  };
}

function groupViews(groupRows: readonly GroupRow[]): NonNullable<SeriesView['groups']> {
  const rowsByKey = Map.groupBy(groupRows, ({ key }) => key);
  return [...rowsByKey].map(([key, rows]) => ({
    key,
    ...withTotals(rows.map((row) => ({ period: row.period, ...exactSums(row) }))),
  }));
}

function subtractGroups(months: readonly MonthSums[], groupRows: readonly GroupRow[]): MonthSums[] {
  const rest = new Map(months.map((month) => [month.period, month]));
  for (const row of groupRows) {
    const month = rest.get(row.period);
    if (month !== undefined) rest.set(row.period, { ...month, ...subtract(month, exactSums(row)) });
  }
  return [...rest.values()];
}

const zeros: Sums = exactSums();

function withTotals(months: MonthSums[]): { totals: Sums; months: MonthSums[] } {
  return { totals: months.reduce((sum, month) => add(sum, month), zeros), months };
}

function add(one: Sums, other: Sums): Sums {
  return {
    units: one.units + other.units,
    revenue: one.revenue + other.revenue,
    royalties: one.royalties + other.royalties,
  };
}

function subtract(one: Sums, other: Sums): Sums {
  return {
    units: one.units - other.units,
    revenue: one.revenue - other.revenue,
    royalties: one.royalties - other.royalties,
  };
}
