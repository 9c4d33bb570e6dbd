import { z } from 'zod';

const most = 1000;

/** How many rows a command answers at most, as typed. */
export const pageSize = z
  .string()
  .regex(/^\d{1,4}$/, `must be a whole number from 1 to ${most}`)
  .transform(Number)
  .refine((count) => count >= 1 && count <= most, `must be a whole number from 1 to ${most}`)
  .default(100);
