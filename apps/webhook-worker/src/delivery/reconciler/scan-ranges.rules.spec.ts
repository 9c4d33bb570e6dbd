import { rangesOfShards } from './scan-ranges.rules.js';

const first = '00000000-0000-0000-0000-000000000000';
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const everyShard = Array.from({ length: 16 }, (_, shard) => shard);
const idAt = (index: number): string => `${index.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`;

describe('the ids that shards scan', () => {
  it.each([0, 1, 5, 16, 101])('cover all ids once, with %s bounds', (count) => {
    const bounds = Array.from({ length: count }, (_, index) => idAt(index + 1));
    const ranges = everyShard.flatMap((shard) => rangesOfShards([shard], bounds));
    expect([ranges[0]?.after, ranges.at(-1)?.upTo]).toEqual([first, last]);
    expect(ranges.slice(1).map(({ after }) => after)).toEqual(ranges.slice(0, -1).map(({ upTo }) => upTo));
  });

  it('are one range for adjacent shards of a replica', () => {
    const bounds = Array.from({ length: 101 }, (_, index) => idAt(index));
    expect(rangesOfShards(everyShard, bounds)).toEqual([{ after: first, upTo: last }]);
    // A shard begins at bound ⌊shard × 101 ÷ 16⌋.
    expect(rangesOfShards([2, 3, 9, 10], bounds)).toEqual([
      { after: idAt(12), upTo: idAt(25) },
      { after: idAt(56), upTo: idAt(69) },
    ]);
  });

  it('belong to shard 0 before the statistics of the table are known', () => {
    expect(rangesOfShards(everyShard.slice(1), [])).toEqual([]);
    expect(rangesOfShards([0, 7], [])).toEqual([{ after: first, upTo: last }]);
  });
});
