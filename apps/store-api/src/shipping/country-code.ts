import { Field } from '@fulfilment/api-reference';
import { Transform } from 'class-transformer';
// The file without the names in all languages, which slow the start down.
import countries from 'i18n-iso-countries/index.js';

/** Lowest number that users may assign (ISO 3166-1 §8.1.3). i18n-iso-countries assigns one of these to XK. */
const firstUserAssigned = 900;

/** Every officially assigned code of ISO 3166-1 alpha-2. */
export const countryCodes: readonly string[] = Object.keys(countries.getAlpha2Codes()).filter(
  (code) => Number(countries.alpha2ToNumeric(code)) < firstUserAssigned,
);
const assigned: ReadonlySet<string> = new Set(countryCodes);

/** Accepts the code in upper case. Use with `UpperCaseCode`, since the schema allows both cases. */
export function IsCountryCode(): PropertyDecorator {
  return Field({
    name: 'isCountryCode',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
    holds: (value) => typeof value === 'string' && assigned.has(value),
    reason: () => 'must be an ISO 3166-1 alpha-2 country code',
  });
}

/**
 * Converts two ASCII letters to upper case. Any other value stays as it is, so that it is rejected: the upper
 * case of the letter ı, for example, is an ASCII letter.
 */
export function UpperCaseCode(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : value,
  );
}
