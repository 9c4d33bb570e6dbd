/**
 * Days of events (`YYYY-MM-DD`, both included). A statement that is given them opens no other day's partitions. They only say where to look: what lies
 * on other days has a wake-up of its own, or is found by the next search.
 */
export interface DaySpan {
  readonly from: string;
  readonly to: string;
  /** The search that found these days stopped at 64 deliveries; more are due, perhaps on other days. */
  readonly more?: boolean | undefined;
}

export function oneDay(day: string): DaySpan {
  return { from: day, to: day };
}

/** The least span with all days of both. */
export function cover(one: DaySpan, other: DaySpan): DaySpan {
  return {
    from: one.from < other.from ? one.from : other.from,
    to: one.to > other.to ? one.to : other.to,
    more: one.more === true || other.more === true,
  };
}

/** Like `cover`, for spans that may be unknown: if either is, so is the result. */
export function coverIfKnown(one: DaySpan | undefined, other: DaySpan | undefined): DaySpan | undefined {
  return one && other && cover(one, other);
}
