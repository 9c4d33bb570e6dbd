import { inRounds } from './in-rounds.js';

describe('inRounds', () => {
  it('keeps the order of the items of each key, and has no key twice in a round', () => {
    const rounds = inRounds(['a1', 'b1', 'a2', 'c1', 'a3', 'b2'], (item) => item.slice(0, 1));
    expect(rounds).toEqual([['a1', 'b1', 'c1'], ['a2', 'b2'], ['a3']]);
  });

  it('returns no round for no items', () => {
    expect(inRounds([], String)).toEqual([]);
  });
});
