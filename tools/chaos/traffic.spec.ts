import { jest } from '@jest/globals';
import type { Comparison } from './comparison/id-comparison.rules.ts';
import { compareUntilEqual } from './traffic.ts';

describe('the comparison after the faults', () => {
  it('is repeated when one of its requests failed', async () => {
    const equal: Comparison = { sets: [], sums: [] };
    const compare = jest.fn<() => Promise<Comparison>>().mockResolvedValue(equal);
    compare.mockRejectedValueOnce(new Error('fetch failed'));
    expect(await compareUntilEqual(compare)).toBe(equal);
    expect(compare).toHaveBeenCalledTimes(2);
  });
});
