import type { ErrorDetail } from '@fulfilment/error-envelope';

/** The members that are required in some countries. */
export interface AddressParts {
  readonly country_code: string;
  readonly city?: string | undefined;
  readonly postal_code?: string | undefined;
  readonly province_code?: string | undefined;
}

/** Requirements of a country, by libaddressinput. */
export interface AddressRequirements {
  /** Letters of the required fields; used here: C for city, Z for postal code. */
  readonly fields: string;
}

// libaddressinput requires a province in 36 countries; only in these is a parcel delayed without it.
const countriesWithProvince: ReadonlySet<string> = new Set(['US', 'CA', 'AU', 'JP', 'BR', 'MX']);

/** Returns a detail for each missing member of an address. White space alone counts as empty. */
export function missingAddressParts(address: AddressParts, { fields }: AddressRequirements): ErrorDetail[] {
  const country = address.country_code;
  const required: ['city' | 'postal_code' | 'province_code', boolean][] = [
    ['city', fields.includes('C')],
    ['postal_code', fields.includes('Z')],
    ['province_code', countriesWithProvince.has(country)],
  ];
  return required
    .filter(([part, needed]) => needed && (address[part] ?? '').trim() === '')
    .map(([part]) => ({ field: `shipping_address.${part}`, reason: `is required for ${country}` }));
}
