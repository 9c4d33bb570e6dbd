import { describe, expect, it } from '@jest/globals';
import { partOf, seededTimeline, shortPace, timeline, usualPace } from './timeline.rules.ts';

describe('the timeline of a run', () => {
  it('is the same for the same seed, and another for another seed', () => {
    expect(seededTimeline(7, 120_000, usualPace)).toEqual(seededTimeline(7, 120_000, usualPace));
    expect(seededTimeline(7, 120_000, usualPace)).not.toEqual(seededTimeline(8, 120_000, usualPace));
  });

  it('has every kind of fault, however short it is, and can be read from a file', () => {
    for (const seed of [1, 2, 3]) {
      const steps = seededTimeline(seed, 1_000, shortPace);
      expect(steps).toHaveLength(7);
      expect(new Set(steps.map(({ action }) => action)).size).toBe(7);
      expect(new Set(steps.map(partOf)).size).toBe(4);
      expect(timeline.parse(JSON.parse(JSON.stringify(steps)))).toEqual(steps);
    }
  });

  it('rejects a step of a file that it does not know', () => {
    expect(timeline.safeParse([{ atMs: 0, action: 'unplug' }]).success).toBe(false);
  });
});
