import fc from 'fast-check';
import { bandPrice, parcelWeightGrams } from './rate.rules.js';

const bands = [
  { maxWeightGrams: 250, amount: 300, extra500gAmount: 50 },
  { maxWeightGrams: 500, amount: 450, extra500gAmount: 60 },
  { maxWeightGrams: 1000, amount: 600, extra500gAmount: 70 },
];

describe('the price by weight bands', () => {
  it.each([
    [undefined, 300],
    [1, 300],
    [250, 300],
    [251, 450],
    [1000, 600],
    [1001, 670],
    [1500, 670],
    [1501, 740],
  ])('of %p g is %p', (weight, amount) => {
    expect(bandPrice(bands, weight)).toBe(amount);
  });

  it('does not decrease with weight, as long as the prices of the bands do not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 5_000 }),
        (weight, more) => {
          expect(bandPrice(bands, weight + more)).toBeGreaterThanOrEqual(
            bandPrice(bands, weight) ?? Infinity,
          );
        },
      ),
    );
  });

  it('is that of the first sufficient band, plus one step per 500 g above the last', () => {
    const some = fc.uniqueArray(
      fc.record({
        maxWeightGrams: fc.integer({ min: 1, max: 30_000 }),
        amount: fc.nat(),
        extra500gAmount: fc.nat(10_000),
      }),
      { selector: ({ maxWeightGrams }) => maxWeightGrams, minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 40_000 }), (unsorted, weight) => {
        const sorted = [...unsorted].sort((one, other) => one.maxWeightGrams - other.maxWeightGrams);
        const fitting = sorted.filter(({ maxWeightGrams }) => maxWeightGrams >= weight);
        const last = sorted.at(-1);
        let expected = fitting[0]?.amount ?? last?.amount ?? 0;
        if (fitting.length === 0 && last !== undefined)
          for (let max = last.maxWeightGrams; max < weight; max += 500) expected += last.extra500gAmount;
        expect(bandPrice(sorted, weight)).toBe(expected);
      }),
    );
  });

  it('is undefined without a band', () => {
    expect(bandPrice([], 10)).toBeUndefined();
  });
});

describe('the weight of a parcel', () => {
  it('is the sum over all pieces', () => {
    expect(
      parcelWeightGrams([
        { weightGrams: 520, quantity: 2 },
        { weightGrams: 90, quantity: 3 },
      ]),
    ).toBe(1310);
  });
});
