import { compareSet, countIds, describeDifferences, formatComparison } from './id-comparison.rules.ts';

const compare = (found: readonly string[]) => compareSet('charges', new Set(['a', 'b']), countIds(found));

describe('the comparison of expected ids with those that were found', () => {
  it.each([
    [['b', 'a'], { missing: [], unexpected: [], doubled: [] }, []],
    [['a'], { missing: ['b'], unexpected: [], doubled: [] }, ['charges: b']],
    [['a', 'b', 'c'], { missing: [], unexpected: ['c'], doubled: [] }, ['charges: c']],
    [['a', 'b', 'b'], { missing: [], unexpected: [], doubled: ['b'] }, ['charges: b']],
  ])('finds in %j what is missing, unexpected and doubled', (found, difference, lines) => {
    expect(compare(found)).toMatchObject(difference);
    expect(describeDifferences({ sets: [compare(found)], sums: [] })).toEqual(lines);
  });

  it('accepts doubled ids only where they may be doubled', () => {
    const found = countIds(['a', 'a', 'b', 'b']);
    const { doubled } = compareSet('events', new Set(['a', 'b']), found, (id) => id === 'a');
    expect(doubled).toEqual(['b']);
  });

  it('is printed as a table that marks each difference', () => {
    const lines = formatComparison({
      sets: [compare(['a', 'b']), compare(['a'])],
      sums: [{ name: 'units', expected: 3, found: 4 }],
    });
    expect(lines.map((line) => /(same|DIFFERENT)$/.exec(line)?.[0])).toEqual([
      undefined, // the heads of the columns
      'same',
      'DIFFERENT',
      'DIFFERENT',
    ]);
  });
});
