import type { ErrorDetail } from '@fulfilment/error-envelope';

/** The members whose need depends on the country. */
export interface AddressParts {
  readonly country_code: string;
  readonly city?: string | undefined;
  readonly postal_code?: string | undefined;
  readonly province_code?: string | undefined;
}

const codes = (text: string): ReadonlySet<string> => new Set(text.split(' '));

// Required fields by country, from the `require` letters of libaddressinput's data (C city, Z postal code, S province).
const withoutCity = codes('AE AG CO GI HK ID JP KY MO NR SG SM VG VN');
const withPostalCode = codes(
  'AT AX BE BL CH CZ DE DK EE FI FK FR GB GF GG GL GP GR GS GU HU IM IO JE LI LT LU LV MF MQ MY NC NL NO NZ PL PM PN PR PT RE RO ' +
    'SE SH SJ SK TC TR UA WF YT ZA AS AU BR CA CN ES FM IN IT KR MH MP MX PF PW RU TW US VI SG SM JP',
);
// These share one code for the whole territory, which senders leave out.
const withOnePostalCode = codes('TC FK GS IO PN SH');
// libaddressinput asks for a province in 37 countries; only here is a parcel held up without it.
const withProvince = codes('US CA AU JP BR MX');

/** What an address to this country lacks. White space alone counts as empty. */
export function missingAddressParts(address: AddressParts): ErrorDetail[] {
  const country = address.country_code;
  const required: ['city' | 'postal_code' | 'province_code', boolean][] = [
    ['city', !withoutCity.has(country)],
    ['postal_code', withPostalCode.has(country) && !withOnePostalCode.has(country)],
    ['province_code', withProvince.has(country)],
  ];
  return required
    .filter(([part, needed]) => needed && (address[part] ?? '').trim() === '')
    .map(([part]) => ({ field: `shipping_address.${part}`, reason: `is required for ${country}` }));
}
