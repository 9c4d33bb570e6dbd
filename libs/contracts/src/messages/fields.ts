import { z } from 'zod';

/**
 * Text from outside that has one line. PostgreSQL cannot store U+0000, UTF-8 cannot encode an unpaired
 * surrogate (`\p{Cs}`), and no valid name or number has a control character.
 */
export const oneLine = {
  pattern: /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u,
  message: 'must not contain control characters, line separators or unpaired surrogates',
} as const;

/** Text from outside that may have several lines. */
export const lines = {
  pattern: /^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u,
  message: 'must not contain control characters except tabs and line breaks, or unpaired surrogates',
} as const;

/** RFC 3339 in UTC. PostgreSQL has no year 0 and limits the digits of a fraction. */
export const instant = z.iso
  .datetime()
  .refine((text) => !text.startsWith('0000'), 'must not be in the year 0')
  .refine((text) => text.length <= 40, 'must have at most 40 characters');
