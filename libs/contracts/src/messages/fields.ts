import { z } from 'zod';

const why = 'has a control character or half a surrogate pair';

/**
 * For `.regex(...oneLine)` of text from outside. PostgreSQL has no place for U+0000, UTF-8 none for half a surrogate pair (`\p{Cs}`), and
 * nobody's name or number has a control character.
 */
export const oneLine = [/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, why] as const;

/** The same for text of several lines. */
export const lines = [/^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u, why] as const;

/** RFC 3339 in UTC. PostgreSQL has no year 0 and reads no endless fraction. */
export const instant = z.iso
  .datetime()
  .refine((text) => !text.startsWith('0000'), 'is in the year 0')
  .refine((text) => text.length <= 40, 'has too many digits');
