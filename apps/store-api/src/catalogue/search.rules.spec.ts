import { searchPattern, searchText } from './search.rules.js';

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

  it('finds composed text in decomposed names', () => {
    expect(searchText('Cafe\u0301')).toBe('caf\u00e9');
  });
});
