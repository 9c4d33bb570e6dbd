import { missingAddressParts } from './address.rules.js';

const fields = (address: Parameters<typeof missingAddressParts>[0]) =>
  missingAddressParts(address).map(({ field }) => field);

describe('addresses by country', () => {
  it.each([
    ['GB', ['shipping_address.city', 'shipping_address.postal_code']],
    ['US', ['shipping_address.city', 'shipping_address.postal_code', 'shipping_address.province_code']],
    ['JP', ['shipping_address.postal_code', 'shipping_address.province_code']],
    ['IE', ['shipping_address.city']],
    ['HK', []],
    ['SG', ['shipping_address.postal_code']],
    ['FK', ['shipping_address.city']],
    ['AE', []],
  ])('%s needs %j', (country_code, needed) => {
    expect(fields({ country_code })).toEqual(needed);
  });

  it('takes white space for nothing', () => {
    expect(fields({ country_code: 'GB', city: ' \u3000', postal_code: 'N1 1AA' })).toEqual([
      'shipping_address.city',
    ]);
  });
});
