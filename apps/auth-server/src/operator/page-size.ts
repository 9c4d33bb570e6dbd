import { z } from 'zod';

const maxPageSize = 1000;

/** `--limit` of a command: maximum number of rows. */
export const pageSize = z
  .string()
  .regex(/^\d{1,4}$/, `must be a whole number from 1 to ${maxPageSize}`)
  .transform(Number)
  .refine((count) => count >= 1 && count <= maxPageSize, `must be a whole number from 1 to ${maxPageSize}`)
  .default(100);
