export interface ProcessedTrack {
  readonly track_id: string;
  readonly title: string | null;
  /** The position from the tags of its file. */
  readonly position: number | null;
  readonly duration_seconds: number;
  readonly first_processed_at: Date;
}

export interface ListedTrack {
  readonly track_id: string;
  readonly position: number;
  readonly title: string;
  readonly duration_seconds: number;
}

/**
 * Assigns a position to each track: the one of its tags if it is free, else after the last, in the order of
 * first registration. The result does not depend on the order in which messages arrive.
 * @param taken positions of tracks that were loaded with the catalogue
 */
export function trackListing(
  taken: readonly number[],
  tracks: readonly ProcessedTrack[],
): readonly ListedTrack[] {
  const fixed = new Set(taken);
  const places = new Map<number, ProcessedTrack>();
  const oldestFirst = tracks.toSorted(byAge);
  const unplaced = oldestFirst.filter((track) => {
    if (track.position === null || fixed.has(track.position) || places.has(track.position)) return true;
    places.set(track.position, track);
    return false;
  });
  let last = Math.max(0, ...taken, ...places.keys());
  for (const track of unplaced) places.set(++last, track);
  return [...places]
    .toSorted(([a], [b]) => a - b)
    .map(([position, { track_id, title, duration_seconds }]) => ({
      track_id,
      position,
      title: title ?? `Track ${position}`,
      duration_seconds,
    }));
}

function byAge(a: ProcessedTrack, b: ProcessedTrack): number {
  const difference = a.first_processed_at.getTime() - b.first_processed_at.getTime();
  return difference !== 0 ? difference : a.track_id < b.track_id ? -1 : 1;
}
