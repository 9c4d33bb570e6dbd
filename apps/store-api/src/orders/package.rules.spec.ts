import fc from 'fast-check';
import { goesBy, type KnownPackage, withCorrection, withPackage } from './package.rules.js';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const tracking = (tracking_number: string) => ({
  carrier: 'Royal Mail',
  tracking_number,
  tracking_url: `https://track.example/${tracking_number}`,
});
const shipped = (packages: readonly KnownPackage[], number: string, minute = 0): KnownPackage[] =>
  withPackage(packages, { ...tracking(number), shipped_at: at(minute), delivered_at: null }, at(minute)) ?? [
    ...packages,
  ];
const corrected = (packages: readonly KnownPackage[], to: string, minute: number, replaces?: string) => {
  const outcome = withCorrection(packages, tracking(to), replaces, at(minute));
  return typeof outcome === 'string' ? [...packages] : outcome.packages;
};
const numbers = (packages: readonly KnownPackage[]) => packages.map(({ parcel }) => parcel.tracking_number);

describe('packages', () => {
  it('adds none that is known by a number it had before its correction', () => {
    const packages = corrected(shipped([], 'X'), 'Y', 1, 'X');
    expect(numbers(shipped(packages, 'X', 2))).toEqual(['Y']);
    expect(numbers(shipped(packages, 'Z', 2))).toEqual(['Y', 'Z']);
  });

  it('corrects the newest unless a number says which, and a repetition corrects no other', () => {
    const two = shipped(corrected(shipped([], 'A'), 'A2', 1), 'B', 2);
    expect(withCorrection(two, tracking('A2'), undefined, at(3))).toMatchObject({ visible: false });
    expect(numbers(corrected(two, 'B2', 3))).toEqual(['A2', 'B2']);
    expect(numbers(corrected(two, 'A3', 3, 'A'))).toEqual(['A3', 'B']);
  });

  it('knows what was not reported yet from what another package is', () => {
    const two = shipped(shipped([], 'A'), 'B');
    expect(withCorrection([], tracking('A'), undefined, at(1))).toBe('unknown_package');
    expect(withCorrection(two, tracking('C'), 'D', at(1))).toBe('unknown_package');
    expect(withCorrection(two, tracking('B'), 'A', at(1))).toBe('number_taken');
    expect(withCorrection(two, tracking('B'), undefined, at(0))).toBe('unchanged');
  });

  it('takes a number back that was right after all', () => {
    expect(numbers(corrected(corrected(shipped([], 'X'), 'Y', 1), 'X', 2))).toEqual(['X']);
  });

  it('ends with the last correction whatever the order and however often corrections come', () => {
    const corrections = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(corrections, fc.infiniteStream(fc.nat()), (minutes, shuffle) => {
        const twice = [...minutes, ...minutes]
          .map((minute) => ({ minute, place: shuffle.next().value }))
          .sort((one, other) => one.place - other.place);
        const packages = twice.reduce(
          (known, { minute }) => corrected(known, `N${minute}`, minute, 'X'),
          shipped([], 'X'),
        );
        expect(numbers(packages)).toEqual([`N${Math.max(...minutes)}`]);
        expect(minutes.every((minute) => packages.every((known) => goesBy(known, `N${minute}`)))).toBe(true);
      }),
    );
  });
});
