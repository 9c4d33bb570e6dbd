import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
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
const twoLetters = /^[A-Za-z]{2}$/;

/** An officially assigned code of ISO 3166-1 alpha-2, in either case; converted to upper case. */
export function CountryCodeField(): PropertyDecorator {
  return twoLetterField(
    'countryCodeField',
    (code) => assigned.has(code),
    'must be an ISO 3166-1 alpha-2 country code',
  );
}

/** Any two letters in either case, converted to upper case: a code that no country has is accepted, too. */
export function TwoLetterField(): PropertyDecorator {
  return twoLetterField('twoLetterField', (code) => twoLetters.test(code), 'must be two ASCII letters');
}

function twoLetterField(name: string, accepts: (code: string) => boolean, reason: string): PropertyDecorator {
  // Other values stay as they are, so that they are rejected: the upper case of the letter ı, for example, is
  // an ASCII letter.
  const convert = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && twoLetters.test(value) ? value.toUpperCase() : value,
  );
  const check = Field({
    name,
    schema: { type: 'string', pattern: twoLetters.source },
    holds: (value) => typeof value === 'string' && accepts(value),
    reason: () => reason,
  });
  return applyDecorators(convert, check);
}
