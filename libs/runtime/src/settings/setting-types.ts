import { z } from 'zod';

/** The size of a connection pool, as a setting. */
export function poolSize(defaultValue: number) {
  return integerSetting({ min: 1, max: 200, default: defaultValue });
}

/** A URL to which paths are appended. */
export function publicUrl() {
  return z.url({ protocol: /^https?$/ }).refine((text) => !text.endsWith('/'), 'must not end with a slash');
}

/** A setting that is `true` or `false`; no other spelling is accepted. */
export function booleanSetting(defaultValue = false) {
  return z
    .enum(['true', 'false'])
    .default(defaultValue ? 'true' : 'false')
    .transform((text) => text === 'true');
}

/** A whole number within bounds, as a setting. */
export function integerSetting(options: { min: number; max: number; default: number }) {
  return z.coerce.number().int().min(options.min).max(options.max).default(options.default);
}

const maxDelayMs = 7 * 24 * 3_600_000;

/** Delays in milliseconds, separated by commas: at most 50 delays of at most 7 days each. */
export function delaysSetting(defaultMs: readonly number[]) {
  return z
    .string()
    .regex(/^\d{1,9}(,\d{1,9}){0,49}$/, 'must be milliseconds, separated by commas')
    .default(defaultMs.join(','))
    .transform((text) => text.split(',').map(Number))
    .refine(
      (delays) => delays.every((delay) => delay <= maxDelayMs),
      'must not contain a delay of more than 7 days',
    );
}

/** Prefix of the keys in Redis, for suites that share one. */
export function keyPrefix(defaultValue: string) {
  return z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default(defaultValue);
}

const keyBytes = 32;

/** Secret keys, separated by commas. The first one seals; all can open (`SecretBox`, `SealedQuotes`). */
export function keyring() {
  return z
    .string()
    .transform((text) => text.split(',').map((key) => Buffer.from(key, 'base64')))
    .refine(
      (keys) => keys.every((key) => key.length === keyBytes),
      'must be 32 bytes in base64, or several such keys separated by commas',
    )
    .refine(
      (keys) => keys.every((key) => key.some((byte) => byte !== key[0])),
      'must be random; 32 equal bytes are not accepted',
    );
}
