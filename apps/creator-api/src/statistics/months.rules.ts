/** Months are `YYYY-MM`. */
export interface MonthRange {
  readonly from: string;
  readonly to: string;
}

/** A response has at most this many months. */
export const maxMonths = 36;
const defaultMonths = 12;

/** Returns the range that a request means: by default 12 months, up to the current one. */
export function monthRange({ from, to }: Partial<MonthRange>, now: Date): MonthRange {
  if (from !== undefined) return { from, to: to ?? addMonths(from, defaultMonths - 1) };
  const last = to ?? now.toISOString().slice(0, 7);
  return { from: addMonths(last, 1 - defaultMonths), to: last };
}

/** Returns every month of the range; none if it ends before it begins. */
export function monthsOf({ from, to }: MonthRange): string[] {
  const length = Math.max(0, monthNumber(to) - monthNumber(from) + 1);
  return Array.from({ length }, (_, index) => addMonths(from, index));
}

/** Adds a positive or negative number of months. Returns no month before 0000-01 or after 9999-12. */
function addMonths(month: string, count: number): string {
  const number = Math.min(Math.max(monthNumber(month) + count, 0), 9999 * 12 + 11);
  const year = String(Math.floor(number / 12)).padStart(4, '0');
  return `${year}-${String((number % 12) + 1).padStart(2, '0')}`;
}

function monthNumber(month: string): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
}
