import { combineRebuilds } from './rebuild-creator-api.ts';

describe('creator rebuild', () => {
  it('reports the final rows and the corrections of both rebuilds, before and after the replay', () => {
    const before = { statistics: { rows: 7, differed: 5 }, order_counts: { rows: 3, differed: 0 } };
    const after = { statistics: { rows: 9, differed: 1 }, order_counts: { rows: 4, differed: 0 } };
    expect(combineRebuilds(before, after)).toEqual({
      statistics: { rows: 9, differed: 6 },
      order_counts: { rows: 4, differed: 0 },
    });
  });
});
