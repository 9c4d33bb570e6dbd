import { z } from 'zod';
import { momentOf } from './moment.rules.js';

/** An argument that is a moment, as `momentOf` reads it, by the clock of this machine. */
export const momentArgument = z.string('is missing').transform((typed, context) => {
  const moment = momentOf(typed, new Date());
  if (moment !== undefined) return moment;
  context.addIssue({ code: 'custom', message: 'must be an ISO 8601 time, or one ago: 30m, 2h, 7d' });
  return z.NEVER;
});
