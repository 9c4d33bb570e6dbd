import fc from 'fast-check';
import { hasTrigram, searchPattern, searchText } from './search.rules.js';

describe('the search pattern', () => {
  it.each([
    ['Tidal', '%tidal%'],
    ['100%', '%100\\%%'],
    ['a_b', '%a\\_b%'],
    ['back\\slash', '%back\\\\slash%'],
    ['ÅNGSTRÖM', '%ångström%'],
    ['ΟΔΟΣ', '%οδοσ%'], // also part of a word, whose σ is not at its end
  ])('of %p matches the term in lower case and literally', (term, pattern) => {
    expect(searchPattern(term)).toBe(pattern);
  });
});

describe('the search text', () => {
  it.each([
    ['STRASSE', 'Straße'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'ΟΔΟΣ'],
    ['МОСТ', 'мост'],
    ['ﬁn', 'FIN'],
    ['STRAẞE', 'straße'],
    ['\u0390', '\u03aa\u0301'], // ΐ, whose upper case has three code points, or two
    ['\u1fb4', '\u03b1\u0345\u0301'], // ᾴ with its accents in another order
  ])('is the same for %s and %s', (one, other) => {
    expect(searchText(one)).toBe(searchText(other));
  });

  it('contains the name and the artists, separated by a space', () => {
    expect(searchText('Slow Signal', 'Harbour Lights', 'Aiko Mori')).toBe(
      'slow signal harbour lights aiko mori',
    );
  });

  it('is case-insensitive in every script', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(searchText(text.toUpperCase())).toBe(searchText(text));
        expect(searchText(text.toLowerCase())).toBe(searchText(text));
      }),
    );
  });

  it('is the same for composed and decomposed characters', () => {
    expect(searchText('Cafe\u0301')).toBe('caf\u00e9');
    expect(searchText('Caf\u00e9')).toBe('caf\u00e9');
  });
});

describe('a search term', () => {
  it.each(['sea', '夜のフ', 'a b c1d'])('%p has a trigram: three letters or digits in a row', (term) => {
    expect(hasTrigram(term)).toBe(true);
  });

  it.each(['a b c', '%%%', 'se', ''])('%p has no trigram', (term) => {
    expect(hasTrigram(term)).toBe(false);
  });
});
