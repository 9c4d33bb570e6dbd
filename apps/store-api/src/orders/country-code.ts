import { Field } from '@fulfilment/api-reference';
import { Transform } from 'class-transformer';
import countries from 'i18n-iso-countries';

/** Numbers from here on are for users to assign (ISO 3166-1 §8.1.3): the package gives XK one of them. */
const userAssigned = 900;

/** Every officially assigned code of ISO 3166-1 alpha-2. */
export const countryCodes: readonly string[] = Object.keys(countries.getAlpha2Codes()).filter(
  (code) => Number(countries.alpha2ToNumeric(code)) < userAssigned,
);
const assigned: ReadonlySet<string> = new Set(countryCodes);

export function isCountryCode(text: string): boolean {
  return assigned.has(text);
}

/** After `UpperCaseCode`: a caller may send either case, which is what the schema tells. */
export function IsCountryCode(): PropertyDecorator {
  return Field({
    name: 'isCountryCode',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
    holds: (value) => typeof value === 'string' && isCountryCode(value),
    reason: () => 'must be an ISO 3166-1 alpha-2 country code',
  });
}

/** Two letters in upper case, whichever case was sent. Anything of another length stays as it is, and is no code. */
export function UpperCaseCode(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && value.length === 2 ? value.toUpperCase() : value,
  );
}
