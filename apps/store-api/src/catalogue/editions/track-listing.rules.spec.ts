import fc from 'fast-check';
import { type ProcessedTrack, trackListing } from './track-listing.rules.js';

let trackCount = 0;
/** @param minute time of its first registration */
const newTrack = (
  minute: number,
  { position = null, title = null }: Partial<Pick<ProcessedTrack, 'position' | 'title'>> = {},
): ProcessedTrack => {
  trackCount += 1;
  return {
    track_id: `track-${trackCount}`,
    title,
    position,
    duration_seconds: 200,
    first_registered_at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
  };
};
const positions = (cataloguePositions: readonly number[], tracks: readonly ProcessedTrack[]) =>
  trackListing(cataloguePositions, tracks).map(({ track_id, position }) => [position, track_id]);

describe('trackListing', () => {
  it('uses the positions of the tags', () => {
    const one = newTrack(3, { position: 1 });
    const two = newTrack(1, { position: 2 });
    const nine = newTrack(2, { position: 9 });
    expect(positions([], [nine, one, two])).toEqual([
      [1, one.track_id],
      [2, two.track_id],
      [9, nine.track_id],
    ]);
  });

  it('adds the other tracks after the last position, oldest first', () => {
    const first = newTrack(0, { position: 2 });
    const early = newTrack(5, { position: 2 });
    const withoutPosition = newTrack(7);
    const late = newTrack(9, { position: 2 });
    expect(positions([1, 4], [late, withoutPosition, early, first])).toEqual([
      [2, first.track_id],
      [5, early.track_id],
      [6, withoutPosition.track_id],
      [7, late.track_id],
    ]);
  });

  it('orders tracks that were registered at the same time by their ids', () => {
    const [first, second] = [newTrack(0, { position: 1 }), newTrack(0, { position: 1 })];
    const expected = [
      [1, first.track_id],
      [2, second.track_id],
    ];
    expect(positions([], [first, second])).toEqual(expected);
    expect(positions([], [second, first])).toEqual(expected);
  });

  it('keeps the positions of tracks that were loaded with the catalogue', () => {
    const track = newTrack(0, { position: 1 });
    expect(positions([1, 2], [track])).toEqual([[3, track.track_id]]);
  });

  it('titles a track without a title by its position', () => {
    expect(trackListing([], [newTrack(0), newTrack(1, { title: 'Low Water' })])).toMatchObject([
      { position: 1, title: 'Track 1' },
      { position: 2, title: 'Low Water' },
    ]);
  });

  it('gives every track a unique position, in any order of arrival', () => {
    const anyTrack = fc.record({
      track_id: fc.uuid(),
      title: fc.constant(null),
      position: fc.option(fc.integer({ min: 1, max: 6 })),
      duration_seconds: fc.nat(1000),
      first_registered_at: fc.integer({ min: 0, max: 3 }).map((second) => new Date(second * 1000)),
    });
    const inTwoOrders = fc
      .uniqueArray(anyTrack, { selector: ({ track_id }) => track_id, maxLength: 12 })
      .chain((tracks) =>
        fc.tuple(fc.constant(tracks), fc.shuffledSubarray(tracks, { minLength: tracks.length })),
      );
    const anyPositions = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
    fc.assert(
      fc.property(inTwoOrders, anyPositions, ([tracks, shuffled], cataloguePositions) => {
        const listed = trackListing(cataloguePositions, tracks);
        const allPositions = [...listed.map(({ position }) => position), ...cataloguePositions];
        expect(new Set(allPositions).size).toBe(tracks.length + cataloguePositions.length);
        expect(new Set(listed.map(({ track_id }) => track_id)).size).toBe(tracks.length);
        expect(trackListing(cataloguePositions, shuffled)).toEqual(listed);
      }),
    );
  });
});
