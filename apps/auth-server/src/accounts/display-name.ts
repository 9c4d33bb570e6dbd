import { z } from 'zod';

// Something to see, on one line, that does not turn the text around it (as titles of releases: libs/http-service, dto/texts.ts).
const visible = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;
const notOneLine = /[\p{Cc}\p{Surrogate}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** What a person, an organisation or a creator is called, as the operator gives it: 1 to 200 characters. */
export const displayName = z
  .string('is missing')
  .trim()
  .min(1, 'must not be empty')
  .max(400, 'must be at most 200 characters long') // before anything that takes time
  .transform((name) => name.normalize('NFC'))
  .refine((name) => [...name].length <= 200, 'must be at most 200 characters long')
  .refine((name) => visible.test(name), 'must not be empty')
  .refine((name) => !notOneLine.test(name), 'must not contain control characters');
