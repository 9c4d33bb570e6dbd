import fc from 'fast-check';
import { lineAmounts } from './line-amounts.rules.js';
import { standardVatRate } from './vat-rates.rules.js';

/** The highest rate in Europe: 27 %. */
const maxVatRateBasisPoints = 2_700;

describe('lineAmounts', () => {
  // `expected` has the total, the VAT in it, and the royalty on the rest. Amounts are rounded half to even;
  // comments show where it matters.
  it.each([
    // VAT 416.5 → 416; royalty 312.45 → 312.
    { quantity: 1, unit_amount: 2499, country: 'GB', royalty_rate: 1500, expected: [2499n, 416n, 312n] },
    // VAT 417.5 → 418; royalty 313.05 → 313.
    { quantity: 1, unit_amount: 2505, country: 'GB', royalty_rate: 1500, expected: [2505n, 418n, 313n] },
    { quantity: 2, unit_amount: 1000, country: 'US', royalty_rate: 1250, expected: [2000n, 0n, 250n] },
    // VAT 1309.09 → 1309; royalty 1963.65 → 1964.
    { quantity: 3, unit_amount: 4800, country: 'JP', royalty_rate: 1500, expected: [14400n, 1309n, 1964n] },
    { quantity: 1, unit_amount: 10, country: 'US', royalty_rate: 500, expected: [10n, 0n, 0n] }, // royalty 0.5 → 0
    { quantity: 1, unit_amount: 30, country: 'US', royalty_rate: 500, expected: [30n, 0n, 2n] }, // royalty 1.5 → 2
    { quantity: 1, unit_amount: 0, country: 'GB', royalty_rate: 1500, expected: [0n, 0n, 0n] },
    {
      quantity: 1,
      unit_amount: Number.MAX_SAFE_INTEGER,
      country: 'US',
      royalty_rate: 10_000,
      expected: [9007199254740991n, 0n, 9007199254740991n],
    },
  ])(
    'calculates the amounts of $quantity × $unit_amount to $country at $royalty_rate basis points',
    ({ quantity, unit_amount, country, royalty_rate, expected }) => {
      const amounts = lineAmounts({ quantity, unit_amount, royalty_rate }, standardVatRate(country));
      expect([amounts.total_amount, amounts.vat_amount, amounts.royalty_amount]).toEqual(expected);
    },
  );

  it('never returns VAT or a royalty above the total', () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.maxSafeNat(),
        fc.nat(maxVatRateBasisPoints),
        fc.nat(10_000),
        (quantity, unit_amount, vatRate, royalty_rate) => {
          const amounts = lineAmounts({ quantity, unit_amount, royalty_rate }, vatRate);
          const { total_amount, vat_amount, royalty_amount } = amounts;
          expect(vat_amount >= 0n && royalty_amount >= 0n).toBe(true);
          expect(vat_amount + royalty_amount <= total_amount).toBe(true);
        },
      ),
    );
  });
});
