import { registerDecorator } from 'class-validator';
import countries from 'i18n-iso-countries';

/** Officially assigned in ISO 3166-1 (user-assigned codes such as XK have no numeric code). */
export function isCountryCode(text: string): boolean {
  return /^[A-Z]{2}$/.test(text) && countries.alpha2ToNumeric(text) !== undefined;
}

export function IsCountryCode(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'isCountryCode',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isCountryCode(value),
        defaultMessage: () => 'must be an ISO 3166-1 alpha-2 country code',
      },
    });
  };
}
