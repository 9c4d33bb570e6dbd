export interface ProcessedTrack {
  readonly track_id: string;
  readonly title: string | null;
  /** The position in the tags of its file. */
  readonly position: number | null;
  readonly duration_seconds: number;
  /**
   * When the earliest of its processed uploads was registered; for a message of an earlier version, which
   * lacks `registered_at`, the time of the message.
   */
  readonly first_registered_at: Date;
}

interface ListedTrack {
  readonly track_id: string;
  readonly position: number;
  readonly title: string;
  readonly duration_seconds: number;
}

/**
 * Assigns a position to each uploaded track, in the order of first registration: the position in its tags if
 * that is free, else the next position after all others. The result does not depend on the order in which
 * messages arrive.
 * @param cataloguePositions positions of tracks that were loaded with the catalogue, which the result omits
 */
export function trackListing(
  cataloguePositions: readonly number[],
  tracks: readonly ProcessedTrack[],
): readonly ListedTrack[] {
  const byPosition = new Map<number, ProcessedTrack>();
  const unplaced: ProcessedTrack[] = [];
  for (const track of tracks.toSorted(byFirstRegistration)) {
    const { position } = track;
    const isFree = position !== null && !cataloguePositions.includes(position) && !byPosition.has(position);
    if (isFree) byPosition.set(position, track);
    else unplaced.push(track);
  }
  let last = Math.max(0, ...cataloguePositions, ...byPosition.keys());
  for (const track of unplaced) {
    last += 1;
    byPosition.set(last, track);
  }
  return [...byPosition]
    .toSorted(([a], [b]) => a - b)
    .map(([position, { track_id, title, duration_seconds }]) => ({
      track_id,
      position,
      title: title ?? `Track ${position}`,
      duration_seconds,
    }));
}

/** Compares the times of first registration; of equal ones, the ids. */
function byFirstRegistration(a: ProcessedTrack, b: ProcessedTrack): number {
  const difference = a.first_registered_at.getTime() - b.first_registered_at.getTime();
  if (difference !== 0) return difference;
  return a.track_id < b.track_id ? -1 : 1;
}
