import { ValidationFailed } from '@fulfilment/error-envelope';

/** Days in UTC, `YYYY-MM-DD`, both inclusive. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Returns the requested range; by default all days. @throws ValidationFailed on an empty range */
export function dayRange({ from = '0001-01-01', to = '9999-12-31' }: Partial<DayRange>): DayRange {
  if (from > to) throw new ValidationFailed([{ field: 'from', reason: 'must not be after `to`' }]);
  return { from, to };
}
