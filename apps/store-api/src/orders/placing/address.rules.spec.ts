import fc from 'fast-check';
import { requiredFieldsOf } from './address-requirements.js';
import { type AddressParts, missingAddressParts } from './address.rules.js';
import { countryCodes } from '../../shipping/country-code.js';

const missingFields = (address: AddressParts) =>
  missingAddressParts(address, requiredFieldsOf(address.country_code)).map(({ field }) =>
    field.replace('shipping_address.', ''),
  );
const countriesRequiring = (field: string) =>
  countryCodes.filter((country_code) => missingFields({ country_code }).includes(field)).sort();

describe('the address rules', () => {
  it('have the requirements of each of the 249 countries of ISO 3166-1', () => {
    expect(countryCodes).toHaveLength(249);
    for (const code of countryCodes) expect(requiredFieldsOf(code)).toMatch(/^[A-Z]+$/);
  });

  it('require a city, except in 13 countries', () => {
    const requiring = countriesRequiring('city');
    expect(countryCodes.filter((code) => !requiring.includes(code)).sort()).toEqual(
      'AE AG CO GI HK ID JP KY MO NR SG SM VG'.split(' '),
    );
  });

  it('require a postal code in 74 countries', () => {
    expect(countriesRequiring('postal_code')).toEqual(
      (
        'AS AT AU AX BE BL BR CA CH CN CZ DE DK EE ES FI FK FM FR GB GF GG GL GP GR GS GU HU IM IN IO IT JE JP KR LI LT LU LV MF MH MP ' +
        'MQ MX MY NC NL NO NZ PF PL PM PN PR PT PW RE RO RU SE SG SH SJ SK SM TC TR TW UA US VI WF YT ZA'
      ).split(' '),
    );
  });

  it('require a province in six countries', () => {
    expect(countriesRequiring('province_code')).toEqual(['AU', 'BR', 'CA', 'JP', 'MX', 'US']);
  });

  it('accept visible text as present and any other as missing, in every country', () => {
    const invisible = fc.stringMatching(/^[ \t\u00a0\u3000\u200b\u2060\u2800\u3164]*$/);
    const text = fc.string({ unit: 'grapheme' }).map((given) => `${given}x`);
    fc.assert(
      fc.property(fc.constantFrom(...countryCodes), invisible, text, (country_code, nothing, something) => {
        const all = (value: string) => ({ city: value, postal_code: value, province_code: value });
        expect(missingFields({ country_code, ...all(nothing) })).toEqual(missingFields({ country_code }));
        expect(missingFields({ country_code, ...all(something) })).toEqual([]);
      }),
    );
  });
});
