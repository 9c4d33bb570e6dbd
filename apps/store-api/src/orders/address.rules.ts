import type { ErrorDetail } from '@fulfilment/error-envelope';

/** The members whose need depends on the country. */
export interface AddressParts {
  readonly country_code: string;
  readonly city?: string | undefined;
  readonly postal_code?: string | undefined;
  readonly province_code?: string | undefined;
}

/** What libaddressinput says of a country. */
export interface AddressRequirements {
  /** Letters of the fields that an address needs, of which count here: C city, Z postal code. */
  readonly fields: string;
}

// libaddressinput asks for a province in 36 countries; only here is a parcel held up without it.
const withProvince: ReadonlySet<string> = new Set(['US', 'CA', 'AU', 'JP', 'BR', 'MX']);

/** What an address lacks by the requirements of its country. White space alone counts as empty. */
export function missingAddressParts(address: AddressParts, { fields }: AddressRequirements): ErrorDetail[] {
  const country = address.country_code;
  const required: ['city' | 'postal_code' | 'province_code', boolean][] = [
    ['city', fields.includes('C')],
    ['postal_code', fields.includes('Z')],
    ['province_code', withProvince.has(country)],
  ];
  return required
    .filter(([part, needed]) => needed && (address[part] ?? '').trim() === '')
    .map(([part]) => ({ field: `shipping_address.${part}`, reason: `is required for ${country}` }));
}
