import { z } from 'zod';

/** What a person, an organisation or a creator is called, as the operator gives it: 1 to 200 characters. */
export const displayName = z
  .string('is missing')
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters long');
