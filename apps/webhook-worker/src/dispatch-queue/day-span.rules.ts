/**
 * A range of event days (`YYYY-MM-DD`, both included). A statement with a span opens only the partitions of
 * its days. A span that misses a day loses nothing: due deliveries of other days have a wake-up of their own,
 * or the next search finds them.
 */
export interface DaySpan {
  readonly from: string;
  readonly to: string;
  /** Whether the search for these days stopped at its limit. Then other days may have due deliveries. */
  readonly more?: boolean | undefined;
}

export function singleDay(day: string): DaySpan {
  return { from: day, to: day };
}

/** Returns the smallest span that contains both. */
export function mergeSpans(a: DaySpan, b: DaySpan): DaySpan {
  return {
    from: a.from < b.from ? a.from : b.from,
    to: a.to > b.to ? a.to : b.to,
    more: a.more === true || b.more === true,
  };
}

/** Merges two spans; undefined if either is unknown. */
export function mergeIfKnown(a: DaySpan | undefined, b: DaySpan | undefined): DaySpan | undefined {
  return a === undefined || b === undefined ? undefined : mergeSpans(a, b);
}
