import { visibleCharacter } from '@fulfilment/contracts';
import { z } from 'zod';

/** Control characters, unpaired surrogates, line breaks; bidirectional embeddings, overrides and isolates. */
const forbidden = /[\p{Cc}\p{Surrogate}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Name of a person, organisation or creator: 1 to 200 characters. */
export const displayName = z
  .string('is missing')
  .trim()
  .min(1, 'must not be empty')
  // Bounds the cost of the normalisation. Ten times the limit: a decomposed character has several code units.
  .max(2_000, 'must be at most 200 characters long')
  .transform((name) => name.normalize('NFC'))
  .refine((name) => [...name].length <= 200, 'must be at most 200 characters long')
  .refine((name) => visibleCharacter.test(name), 'must not be empty')
  .refine((name) => !forbidden.test(name), 'must be one line without control characters');
