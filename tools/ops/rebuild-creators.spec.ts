import { describe, expect, it } from '@jest/globals';
import { bothTimes } from './rebuild-creators.ts';

describe('creator rebuild', () => {
  it('tells of the drift that was put right before and after everything was told again', () => {
    const before = { statistics: { rows: 7, differed: 5 }, order_counts: { rows: 3, differed: 0 } };
    const after = { statistics: { rows: 9, differed: 1 }, order_counts: { rows: 4, differed: 0 } };
    expect(bothTimes(before, after)).toEqual({
      statistics: { rows: 9, differed: 6 },
      order_counts: { rows: 4, differed: 0 },
    });
  });
});
