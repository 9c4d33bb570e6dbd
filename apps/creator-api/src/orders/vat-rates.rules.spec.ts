import { standardVatRate } from './vat-rates.rules.js';

describe('standardVatRate', () => {
  it('accepts a country code in either case, and returns 0 for an unknown country', () => {
    expect([
      standardVatRate('gb'),
      standardVatRate('DE'),
      standardVatRate('US'),
      standardVatRate('ZZ'),
    ]).toEqual([2000, 1900, 0, 0]);
  });
});
