import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

// RFC 3339 §5.6, `date-time`.
const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
const maxFractionDigits = 9;
const minute = 60_000;
const firstMoment = '0001-01-01T00:00:00Z';
const lastMoment = '9999-12-31T23:59:59.999999Z';

/**
 * An RFC 3339 time with any offset, fraction or leap second. It is converted to a form that PostgreSQL reads:
 * UTC, nine fractional digits, years 1 to 9999.
 */
export function DateTimeField(): PropertyDecorator {
  const inUtc = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? (momentInUtc(value) ?? value) : value,
  );
  const checked = Field({
    name: 'dateTimeField',
    schema: { type: 'string', format: 'date-time' },
    holds: (value) => typeof value === 'string' && momentInUtc(value) !== undefined,
    reason: () => 'must be a date-time, like 2026-11-20T12:00:00Z',
  });
  return applyDecorators(inUtc, checked);
}

/** Returns undefined for text that is not an RFC 3339 time, such as 30 February. */
export function momentInUtc(text: string): string | undefined {
  const match = dateTime.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minutes, second] = match.map(Number);
  const [fraction = '', sign, offsetHours, offsetMinutes] = match.slice(7);
  const atMidnight = utc(year, month, day);
  if (atMidnight.getUTCMonth() + 1 !== month || atMidnight.getUTCDate() !== day) return undefined;
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * (sign === '-' ? -1 : 1);
  const inMinutes = (hour ?? 0) * 60 + (minutes ?? 0) - offset;
  // A leap second is the last second of a UTC day.
  if (second === 60 && (inMinutes + 1) % 1440 !== 0) return undefined;
  const moment = new Date(atMidnight.getTime() + inMinutes * minute + (second ?? 0) * 1000);
  if (moment.getUTCFullYear() < 1) return firstMoment;
  if (moment.getUTCFullYear() > 9999) return lastMoment;
  const digits = fraction.slice(0, maxFractionDigits);
  return moment.toISOString().replace('.000Z', digits === '' ? 'Z' : `.${digits}Z`);
}

/** `Date.UTC` maps the years 0 to 99 to 1900 to 1999. */
function utc(year = 0, month = 1, day = 1): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}
