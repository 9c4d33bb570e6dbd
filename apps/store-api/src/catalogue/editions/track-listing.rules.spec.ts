import fc from 'fast-check';
import { type ProcessedTrack, trackListing } from './track-listing.rules.js';

let count = 0;
/** @param minute when it was first processed */
const aTrack = (
  minute: number,
  { position = null, title = null }: Partial<Pick<ProcessedTrack, 'position' | 'title'>> = {},
): ProcessedTrack => ({
  track_id: `track-${String((count += 1)).padStart(4, '0')}`,
  title,
  position,
  duration_seconds: 200,
  first_processed_at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
});
const places = (taken: readonly number[], tracks: readonly ProcessedTrack[]) =>
  trackListing(taken, tracks).map(({ track_id, position }) => [position, track_id]);

describe('trackListing', () => {
  it('uses the positions of the tags', () => {
    const one = aTrack(3, { position: 1 });
    const two = aTrack(1, { position: 2 });
    const nine = aTrack(2, { position: 9 });
    expect(places([], [nine, one, two])).toEqual([
      [1, one.track_id],
      [2, two.track_id],
      [9, nine.track_id],
    ]);
  });

  it('adds the other tracks after the last position, oldest first', () => {
    const first = aTrack(0, { position: 2 });
    const early = aTrack(5, { position: 2 });
    const withoutPosition = aTrack(7);
    const late = aTrack(9, { position: 2 });
    expect(places([1, 4], [late, withoutPosition, early, first])).toEqual([
      [2, first.track_id],
      [5, early.track_id],
      [6, withoutPosition.track_id],
      [7, late.track_id],
    ]);
  });

  it('keeps the positions of tracks that were loaded with the catalogue', () => {
    const track = aTrack(0, { position: 1 });
    expect(places([1, 2], [track])).toEqual([[3, track.track_id]]);
  });

  it('titles a track without a title by its position', () => {
    expect(trackListing([], [aTrack(0), aTrack(1, { title: 'Low Water' })])).toMatchObject([
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
      first_processed_at: fc.integer({ min: 0, max: 3 }).map((second) => new Date(second * 1000)),
    });
    const inTwoOrders = fc
      .uniqueArray(anyTrack, { selector: ({ track_id }) => track_id, maxLength: 12 })
      .chain((tracks) =>
        fc.tuple(fc.constant(tracks), fc.shuffledSubarray(tracks, { minLength: tracks.length })),
      );
    const takenPositions = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
    fc.assert(
      fc.property(inTwoOrders, takenPositions, ([tracks, shuffled], taken) => {
        const listed = trackListing(taken, tracks);
        const positions = listed.map(({ position }) => position);
        expect(new Set([...positions, ...taken]).size).toBe(tracks.length + taken.length);
        expect(new Set(listed.map(({ track_id }) => track_id)).size).toBe(tracks.length);
        expect(trackListing(taken, shuffled)).toEqual(listed);
      }),
    );
  });
});
