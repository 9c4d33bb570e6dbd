import { ValidationFailed } from '@fulfilment/error-envelope';

/** Months are `YYYY-MM`. */
interface MonthRange {
  readonly from: string;
  readonly to: string;
}

/** A response has at most this many months. */
export const maxMonths = 36;
const defaultMonths = 12;

/**
 * Returns the requested range and its months. With only `from` or only `to`, the range has 12 months; with
 * neither, it is the last 12 months, including the current one.
 * @throws ValidationFailed when the range is empty or too long, or has months of the year 0000
 */
export function requestedMonths(
  requested: Partial<MonthRange>,
  now: Date,
): { readonly range: MonthRange; readonly months: readonly string[] } {
  rejectYear0000(requested);
  const range = monthRange(requested, now);
  const months = monthsOf(range);
  if (months.length === 0) throw new ValidationFailed([{ field: 'from', reason: 'must not be after `to`' }]);
  if (months.length > maxMonths) {
    const reason = `must be at most ${maxMonths - 1} months before \`to\``;
    throw new ValidationFailed([{ field: 'from', reason }]);
  }
  return { range, months };
}

/** PostgreSQL has no days of the year 0000. */
function rejectYear0000({ from, to }: Partial<MonthRange>): void {
  const details = Object.entries({ from, to }).flatMap(([field, month]) =>
    month?.startsWith('0000') === true ? [{ field, reason: 'must be a month from 0001-01 on' }] : [],
  );
  if (details.length > 0) throw new ValidationFailed(details);
}

function monthRange({ from, to }: Partial<MonthRange>, now: Date): MonthRange {
  if (from !== undefined) return { from, to: to ?? addMonths(from, defaultMonths - 1) };
  const last = to ?? now.toISOString().slice(0, 7);
  return { from: addMonths(last, 1 - defaultMonths), to: last };
}

function monthsOf({ from, to }: MonthRange): string[] {
  const length = Math.max(0, monthNumber(to) - monthNumber(from) + 1);
  return Array.from({ length }, (_, index) => addMonths(from, index));
}

/** Adds a positive or negative number of months. Returns no month before 0001-01 or after 9999-12. */
function addMonths(month: string, count: number): string {
  const number = Math.min(
    Math.max(monthNumber(month) + count, monthNumber('0001-01')),
    monthNumber('9999-12'),
  );
  const year = String(Math.floor(number / 12)).padStart(4, '0');
  return `${year}-${String((number % 12) + 1).padStart(2, '0')}`;
}

/** Returns the number of months since 0000-01. */
function monthNumber(month: string): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
}
