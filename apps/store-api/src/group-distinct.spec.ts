import { groupDistinct } from './group-distinct.js';

describe('groupDistinct', () => {
  it('keeps the order of the items of each key, and has no key twice in a group', () => {
    const groups = groupDistinct(['a1', 'b1', 'a2', 'c1', 'a3', 'b2'], (item) => item.slice(0, 1));
    expect(groups).toEqual([['a1', 'b1', 'c1'], ['a2', 'b2'], ['a3']]);
  });

  it('returns no group for no items', () => {
    expect(groupDistinct([], String)).toEqual([]);
  });
});
