import fc from 'fast-check';
import { divideHalfEven } from './round-half-even.rules.js';

describe('divideHalfEven', () => {
  it.each([
    [5n, 10n, 0n],
    [15n, 10n, 2n],
    [25n, 10n, 2n],
    [26n, 10n, 3n],
    [24n, 10n, 2n],
    [-5n, 10n, 0n],
    [-15n, 10n, -2n],
    [-25n, 10n, -2n],
    [-26n, 10n, -3n],
    [0n, 7n, 0n],
  ])('rounds %p / %p to %p', (numerator, denominator, quotient) => {
    expect(divideHalfEven(numerator, denominator)).toBe(quotient);
  });

  it('returns the nearest integer, and the even one for an exact half', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
        const quotient = divideHalfEven(numerator, denominator);
        const rest = 2n * (numerator - quotient * denominator);
        const distance = rest < 0n ? -rest : rest;
        expect(distance <= denominator).toBe(true);
        if (distance === denominator) expect(quotient % 2n).toBe(0n);
      }),
    );
  });

  it('negates the quotient of a negated numerator', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
        expect(divideHalfEven(-numerator, denominator)).toBe(-divideHalfEven(numerator, denominator));
      }),
    );
  });
});
