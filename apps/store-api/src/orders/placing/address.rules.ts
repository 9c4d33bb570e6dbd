import { visibleCharacter } from '@fulfilment/contracts';
import type { ErrorDetail } from '@fulfilment/error-envelope';

/** The country of an address, and the members that only some countries require. */
export interface AddressParts {
  readonly country_code: string;
  readonly city?: string | undefined;
  readonly postal_code?: string | undefined;
  readonly province_code?: string | undefined;
}

// libaddressinput requires a province in 36 countries; only in these six is a parcel delayed without one.
export const countriesRequiringProvince: readonly string[] = ['US', 'CA', 'AU', 'JP', 'BR', 'MX'];

/**
 * Returns a detail for each missing member of an address. A value without visible characters counts as empty.
 * @param requiredFields letters of libaddressinput; used here: C for city, Z for postal code
 */
export function missingAddressParts(address: AddressParts, requiredFields: string): ErrorDetail[] {
  const country = address.country_code;
  const isRequired = {
    city: requiredFields.includes('C'),
    postal_code: requiredFields.includes('Z'),
    province_code: countriesRequiringProvince.includes(country),
  };
  return (['city', 'postal_code', 'province_code'] as const)
    .filter((member) => isRequired[member] && !visibleCharacter.test(address[member] ?? ''))
    .map((member) => ({ field: `shipping_address.${member}`, reason: `is required for ${country}` }));
}
