export interface ProcessedTrack {
  readonly track_id: string;
  readonly title: string | null;
  /** The place its file's tags name. */
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
 * Where each track stands: at the place its tags name when that is free, else behind the last, in the order they were first registered. It depends
 * on the tracks alone, not on the order their messages came in.
 * @param taken places of tracks that are not the Creator API's to move
 */
export function trackListing(
  taken: readonly number[],
  tracks: readonly ProcessedTrack[],
): readonly ListedTrack[] {
  const fixed = new Set(taken);
  const places = new Map<number, ProcessedTrack>();
  const oldestFirst = tracks.toSorted(byAge);
  const homeless = oldestFirst.filter((track) => {
    if (track.position === null || fixed.has(track.position) || places.has(track.position)) return true;
    places.set(track.position, track);
    return false;
  });
  let last = Math.max(0, ...taken, ...places.keys());
  for (const track of homeless) places.set(++last, track);
  return [...places]
    .toSorted(([one], [other]) => one - other)
    .map(([position, { track_id, title, duration_seconds }]) => ({
      track_id,
      position,
      title: title ?? `Track ${position}`,
      duration_seconds,
    }));
}

function byAge(one: ProcessedTrack, other: ProcessedTrack): number {
  const difference = one.first_processed_at.getTime() - other.first_processed_at.getTime();
  return difference !== 0 ? difference : one.track_id < other.track_id ? -1 : 1;
}
