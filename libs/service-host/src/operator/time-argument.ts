import { z } from 'zod';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const calendarDay = z.iso.date();
const isoDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** A time argument, parsed by `parseTime` with this machine's clock. */
export const timeArgument = z.string('is missing').transform((typed, context) => {
  const time = parseTime(typed, new Date());
  if (time !== undefined) return time;
  context.addIssue({
    code: 'custom',
    message: 'must be an ISO 8601 time, or a duration before now: 30m, 2h, 7d',
  });
  return z.NEVER;
});

/**
 * Parses an ISO 8601 date or time (in UTC if it has no zone), or a duration before `now`: `90s`, `30m`, `2h`,
 * `7d`. Returns undefined for anything else.
 */
export function parseTime(typed: string, now: Date): Date | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(typed) ?? [];
  if (count !== undefined && isUnit(unit)) return new Date(now.getTime() - Number(count) * unitMs[unit]);
  // `Date` would read 30 February as 2 March.
  if (!isoDate.test(typed) || !calendarDay.safeParse(typed.slice(0, 10)).success) return undefined;
  const lacksZone = typed.includes('T') && !/(Z|[+-]\d{2}:\d{2})$/.test(typed);
  const time = new Date(lacksZone ? `${typed}Z` : typed);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function isUnit(unit: string | undefined): unit is keyof typeof unitMs {
  return unit !== undefined && Object.hasOwn(unitMs, unit);
}
