import { Field } from '@fulfilment/api-reference';
import countries from 'i18n-iso-countries';

/** Officially assigned in ISO 3166-1 (user-assigned codes such as XK have no numeric code). */
export function isCountryCode(text: string): boolean {
  return /^[A-Z]{2}$/.test(text) && countries.alpha2ToNumeric(text) !== undefined;
}

/** After `toUpperCase`: a caller may send either case, which is what the schema tells. */
export function IsCountryCode(): PropertyDecorator {
  return Field({
    name: 'isCountryCode',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
    holds: (value) => typeof value === 'string' && isCountryCode(value),
    reason: () => 'must be an ISO 3166-1 alpha-2 country code',
  });
}
