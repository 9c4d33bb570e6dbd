import { ValidationFailed } from '@fulfilment/error-envelope';
import { maxMonths, type MonthRange, monthRange, monthsOf } from './months.rules.js';

/** Returns the requested months. @throws ValidationFailed when the range is empty or too long */
export function requestedMonths(
  requested: Partial<MonthRange>,
  now: Date,
): { readonly range: MonthRange; readonly months: readonly string[] } {
  const range = monthRange(requested, now);
  const months = monthsOf(range);
  if (months.length === 0) throw new ValidationFailed([{ field: 'from', reason: 'must not be after to' }]);
  if (months.length > maxMonths) {
    const reason = `must be at most ${maxMonths - 1} months before to`;
    throw new ValidationFailed([{ field: 'from', reason }]);
  }
  return { range, months };
}
