import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

// RFC 3339 §5.6, `date-time`
const dateTime =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d):(?<seconds>[0-5]\d|60)(?:\.(?<fraction>\d+))?(?:Z|(?<sign>[+-])(?<offsetHours>[01]\d|2[0-3]):(?<offsetMinutes>[0-5]\d))$/i;
const maxFractionDigits = 9;
const minuteMs = 60_000;
const minutesPerDay = 1_440;
const firstMoment = '0001-01-01T00:00:00Z';
const lastMoment = '9999-12-31T23:59:59.999999Z';

/**
 * An RFC 3339 time with any offset, fraction or leap second. It is converted to a form that PostgreSQL reads:
 * UTC, at most nine fractional digits, years 1 to 9999 (another year becomes the first or last moment).
 */
export function DateTimeField(): PropertyDecorator {
  const convert = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? (toUtc(value) ?? value) : value,
  );
  const check = Field({
    name: 'dateTimeField',
    schema: { type: 'string', format: 'date-time' },
    holds: (value) => typeof value === 'string' && toUtc(value) !== undefined,
    reason: () => 'must be a date-time, like 2026-11-20T12:00:00Z',
  });
  return applyDecorators(convert, check);
}

/** Returns the time in UTC; undefined for text that is not an RFC 3339 time, such as 30 February. */
export function toUtc(text: string): string | undefined {
  const parts = dateTime.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const { year, month, day, hours, minutes, seconds, fraction = '', sign } = parts;
  const { offsetHours = 0, offsetMinutes = 0 } = parts;
  const atMidnight = midnightOf(Number(year), Number(month), Number(day));
  const isCalendarDay =
    atMidnight.getUTCMonth() + 1 === Number(month) && atMidnight.getUTCDate() === Number(day);
  if (!isCalendarDay) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const utcMinutes = Number(hours) * 60 + Number(minutes) - offset; // from midnight of the given day
  // A leap second is the last second of a UTC day.
  if (seconds === '60' && (utcMinutes + 1) % minutesPerDay !== 0) return undefined;
  const moment = new Date(atMidnight.getTime() + utcMinutes * minuteMs + Number(seconds) * 1000);
  if (moment.getUTCFullYear() < 1) return firstMoment;
  if (moment.getUTCFullYear() > 9999) return lastMoment;
  const digits = fraction.slice(0, maxFractionDigits);
  return moment.toISOString().replace('.000Z', digits === '' ? 'Z' : `.${digits}Z`);
}

/** Returns midnight of a day. `Date.UTC` would map the years 0 to 99 to 1900 to 1999. */
function midnightOf(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}
