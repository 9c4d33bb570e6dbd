import { z } from 'zod';

/**
 * Arguments of `.regex(...oneLine)` for text from outside. PostgreSQL cannot store U+0000, UTF-8 cannot
 * encode an unpaired surrogate (`\p{Cs}`), and no valid name or number has a control character.
 */
export const oneLine = [
  /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u,
  'must not contain control characters, line separators or unpaired surrogates',
] as const;

/** Arguments of `.regex(...lines)` for text that may have several lines. */
export const lines = [
  /^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u,
  'must not contain control characters except tabs and line breaks, or unpaired surrogates',
] as const;

/** RFC 3339 in UTC. PostgreSQL has no year 0 and limits the digits of a fraction. */
export const instant = z.iso
  .datetime()
  .refine((text) => !text.startsWith('0000'), 'must not be in the year 0')
  .refine((text) => text.length <= 40, 'must have at most 40 characters');
