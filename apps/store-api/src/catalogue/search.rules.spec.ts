import fc from 'fast-check';
import { hasTrigram, searchPattern, searchText } from './search.rules.js';

describe('search', () => {
  it.each([
    ['Tidal', '%tidal%'],
    ['100%', '%100\\%%'],
    ['a_b', '%a\\_b%'],
    ['back\\slash', '%back\\\\slash%'],
    ['ÅNGSTRÖM', '%ångström%'],
  ])('takes %p literally', (term, pattern) => {
    expect(searchPattern(term)).toBe(pattern);
  });

  it.each([
    ['STRASSE', 'Straße'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'ΟΔΟΣ'],
    ['МОСТ', 'мост'],
    ['ﬁn', 'FIN'],
  ])('takes %s for %s', (one, other) => {
    expect(searchText(one)).toBe(searchText(other));
  });

  it('knows no difference of case, in any script', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(searchText(text.toUpperCase())).toBe(searchText(text));
        expect(searchText(text.toLowerCase())).toBe(searchText(text));
      }),
    );
  });

  it('knows what a trigram index can narrow', () => {
    expect(['sea', '夜のフ', 'a b c', '%%%', 'se', ''].map(hasTrigram)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('finds composed text in decomposed names', () => {
    expect(searchText('Cafe\u0301')).toBe('caf\u00e9');
  });
});
