import { z } from 'zod';
import { parseTime } from './time.rules.js';

/** A time argument, parsed by `parseTime` with this machine's clock. */
export const timeArgument = z.string('is missing').transform((typed, context) => {
  const time = parseTime(typed, new Date());
  if (time !== undefined) return time;
  context.addIssue({ code: 'custom', message: 'must be an ISO 8601 time, or one ago: 30m, 2h, 7d' });
  return z.NEVER;
});
