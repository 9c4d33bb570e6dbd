import fc from 'fast-check';
import { lineFigures } from './line-figures.rules.js';
import { standardVatRate } from './vat-rates.rules.js';

describe('lineFigures', () => {
  it.each([
    // `expected` has the total, the VAT in it, and the royalty on the rest. Before a case: the exact amounts.
    // 416.5 → 416; 312.45.
    { quantity: 1, unitAmount: 2499, country: 'GB', royaltyRate: 1500, expected: [2499n, 416n, 312n] },
    // 417.5 → 418; 313.05.
    { quantity: 1, unitAmount: 2505, country: 'GB', royaltyRate: 1500, expected: [2505n, 418n, 313n] },
    { quantity: 2, unitAmount: 1000, country: 'US', royaltyRate: 1250, expected: [2000n, 0n, 250n] },
    // 1309.09; 1963.65.
    { quantity: 3, unitAmount: 4800, country: 'JP', royaltyRate: 1500, expected: [14400n, 1309n, 1964n] },
    { quantity: 1, unitAmount: 10, country: 'US', royaltyRate: 500, expected: [10n, 0n, 0n] }, // 0.5 → 0
    { quantity: 1, unitAmount: 30, country: 'US', royaltyRate: 500, expected: [30n, 0n, 2n] }, // 1.5 → 2
    { quantity: 1, unitAmount: 0, country: 'GB', royaltyRate: 1500, expected: [0n, 0n, 0n] },
    {
      quantity: 1,
      unitAmount: Number.MAX_SAFE_INTEGER,
      country: 'US',
      royaltyRate: 10_000,
      expected: [9007199254740991n, 0n, 9007199254740991n],
    },
  ])(
    'calculates the amounts of $quantity × $unitAmount to $country at $royaltyRate basis points',
    ({ quantity, unitAmount, country, royaltyRate, expected }) => {
      const figures = lineFigures({ quantity, unitAmount, vatRate: standardVatRate(country), royaltyRate });
      expect([figures.totalAmount, figures.vatAmount, figures.royaltyAmount]).toEqual(expected);
    },
  );

  it('never returns VAT or a royalty above the total', () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.maxSafeNat(),
        fc.nat(2700),
        fc.nat(10_000),
        (quantity, unitAmount, vatRate, royaltyRate) => {
          const { totalAmount, vatAmount, royaltyAmount } = lineFigures({
            quantity,
            unitAmount,
            vatRate,
            royaltyRate,
          });
          expect(vatAmount >= 0n && royaltyAmount >= 0n).toBe(true);
          expect(vatAmount + royaltyAmount <= totalAmount).toBe(true);
        },
      ),
    );
  });
});
