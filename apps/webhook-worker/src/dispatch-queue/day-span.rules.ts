/**
 * A range of event days (`YYYY-MM-DD`, both included). A statement with a span opens only the partitions of
 * its days. It only limits the search: deliveries on other days have a wake-up of their own, or are found by
 * the next search.
 */
export interface DaySpan {
  readonly from: string;
  readonly to: string;
  /** The search that found these days stopped at 64 deliveries; more may be due, also on other days. */
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
  return a && b && mergeSpans(a, b);
}
