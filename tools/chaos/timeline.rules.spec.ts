import { partOf, seededTimeline, shortPace, timeline, usualPace } from './timeline.rules.ts';

describe('the timeline of a run', () => {
  it('is the same for the same seed, and differs for another seed', () => {
    const options = { minLengthMs: 120_000, pace: usualPace };
    expect(seededTimeline(7, options)).toEqual(seededTimeline(7, options));
    expect(seededTimeline(7, options)).not.toEqual(seededTimeline(8, options));
  });

  it('has every kind of step once if it is short, for every part, and can be read from a file', () => {
    const [kindCount, partCount] = [7, 4]; // the actions of `Step`, and the results of `partOf`
    for (const seed of [1, 2, 3]) {
      const steps = seededTimeline(seed, { minLengthMs: 1_000, pace: shortPace });
      expect(steps).toHaveLength(kindCount);
      expect(new Set(steps.map(({ action }) => action)).size).toBe(kindCount);
      expect(new Set(steps.map(partOf)).size).toBe(partCount);
      expect(timeline.parse(JSON.parse(JSON.stringify(steps)))).toEqual(steps);
    }
  });

  it('is rejected if a file has an unknown step', () => {
    expect(timeline.safeParse([{ atMs: 0, action: 'unplug' }]).success).toBe(false);
  });
});
