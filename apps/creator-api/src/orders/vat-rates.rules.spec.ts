import { standardVatRate } from './vat-rates.rules.js';

describe('the standard rate of VAT', () => {
  it.each([
    ['27 %', 'HU', 2700],
    ['25.5 %', 'FI', 2550],
    ['25 %', 'DK HR NO SE', 2500],
    ['24 %', 'EE GR IS', 2400],
    ['23 %', 'IE PL PT SK', 2300],
    ['22 %', 'IT SI', 2200],
    ['21 %', 'BE CZ ES LT LV NL RO', 2100],
    ['20 %', 'AT BG FR GB IM MC', 2000],
    ['19 %', 'CY DE', 1900],
    ['18 %', 'MT', 1800],
    ['17 %', 'LU', 1700],
    ['16 %', 'MX', 1600],
    ['15 %', 'NZ ZA', 1500],
    ['10 %', 'AU JP KR', 1000],
    ['9 %', 'SG', 900],
    ['8.1 %', 'CH LI', 810],
    ['0', 'US CA ZZ', 0],
  ])('was %s on 2026-01-01 in %s', (_percent, countries, basisPoints) => {
    for (const country of countries.split(' '))
      expect([country, standardVatRate(country)]).toEqual([country, basisPoints]);
  });

  it('is found by a country code in lower case', () => {
    expect(standardVatRate('gb')).toBe(2000);
  });
});
