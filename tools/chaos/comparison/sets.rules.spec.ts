import { describe, expect, it } from '@jest/globals';
import { compareSet, countIds, formatSets, isSame } from './sets.rules.ts';

const compare = (found: readonly string[]) => compareSet('charges', new Set(['a', 'b']), countIds(found));

describe('the comparison of expected ids with those that were found', () => {
  it.each([
    [['b', 'a'], { missing: [], unexpected: [], doubled: [] }, true],
    [['a'], { missing: ['b'], unexpected: [], doubled: [] }, false],
    [['a', 'b', 'c'], { missing: [], unexpected: ['c'], doubled: [] }, false],
    [['a', 'b', 'b'], { missing: [], unexpected: [], doubled: ['b'] }, false],
  ])('finds in %j what is missing, unexpected and doubled', (found, difference, same) => {
    expect(compare(found)).toMatchObject(difference);
    expect(isSame(compare(found))).toBe(same);
  });

  it('accepts doubled ids only where they may be doubled', () => {
    const found = countIds(['a', 'a', 'b', 'b']);
    const { doubled } = compareSet('events', new Set(['a', 'b']), found, (id) => id === 'a');
    expect(doubled).toEqual(['b']);
  });

  it('is printed as a table that marks each difference', () => {
    const lines = formatSets(
      [compare(['a', 'b']), compare(['a'])],
      [{ name: 'units', expected: 3, found: 4 }],
    );
    expect(lines.map((line) => /(same|DIFFERENT)$/.exec(line)?.[0])).toEqual([
      undefined,
      'same',
      'DIFFERENT',
      'DIFFERENT',
    ]);
  });
});
