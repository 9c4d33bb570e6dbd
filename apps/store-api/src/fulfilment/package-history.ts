import type { PackageRow } from '../orders/order-row.js';
import type { PackageEvent } from './package.rules.js';

/** What earlier versions stored for each package instead of its events. */
interface StoredOutcome {
  readonly former_numbers: readonly string[];
  /** Time of the event that the tracking came from. */
  readonly told_at: string; // words: member of stored JSON
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'occurred_at'> : never;
type StoredEvent = WithoutTime<PackageEvent> & { readonly told_at: string }; // words: member of stored JSON

/** The column `orders.package_history`. */
export type PackageHistory = readonly (StoredEvent | StoredOutcome)[];

const epoch = new Date(0).toISOString();

/**
 * Returns the stored events of an order's packages, or equivalent ones that are earlier than any later
 * correction.
 */
export function eventsIn(history: PackageHistory, packages: readonly PackageRow[]): readonly PackageEvent[] {
  const stored = history.filter((entry) => 'kind' in entry);
  if (stored.length > 0)
    // words: member of stored JSON
    return stored.map(({ told_at: occurred_at, ...event }) => ({ ...event, occurred_at }));
  const outcomes = history.filter((entry) => !('kind' in entry));
  return packages.flatMap((parcel, index) => eventsFor(parcel, outcomes[index]));
}

export function storedHistory(events: readonly PackageEvent[]): PackageHistory {
  // words: member of stored JSON
  return events.map(({ occurred_at: told_at, ...event }) => ({ ...event, told_at }));
}

function eventsFor(
  { shipped_at, delivered_at, ...tracking }: PackageRow,
  // words: member of stored JSON
  { former_numbers = [], told_at: tracked_at = shipped_at }: Partial<StoredOutcome> = {},
): PackageEvent[] {
  const corrected = (replaces: string, occurred_at: string) =>
    ({ kind: 'corrected', ...tracking, replaces, occurred_at }) as const;
  return [
    { kind: 'shipped', ...tracking, shipped_at, occurred_at: epoch },
    ...former_numbers.map((number) => corrected(number, epoch)),
    corrected(tracking.tracking_number, tracked_at),
    ...(delivered_at === null
      ? []
      : [
          {
            kind: 'delivered' as const,
            tracking_number: tracking.tracking_number,
            delivered_at,
            occurred_at: delivered_at,
          },
        ]),
  ];
}
