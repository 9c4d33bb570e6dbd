/**
 * Days of events (`YYYY-MM-DD`, both included). A statement that is told them opens no other day's partitions: a hint where to look, never a
 * filter that anything relies on.
 */
export interface DaySpan {
  readonly from: string;
  readonly to: string;
  /** More is due than was looked at when it was found out, perhaps on other days. */
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

/** The same of days that may not be known: of one that are not, nothing is known of both. */
export function coverIfKnown(one: DaySpan | undefined, other: DaySpan | undefined): DaySpan | undefined {
  return one && other && cover(one, other);
}
