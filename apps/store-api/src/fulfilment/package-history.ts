import type { PackageEvent } from './package.rules.js';

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'occurred_at'> : never;

/** The column `orders.package_history`: the events of an order's packages. */
export type PackageHistory = readonly (WithoutTime<PackageEvent> & { readonly told_at: string })[]; // words: member of stored JSON

export function eventsIn(history: PackageHistory): readonly PackageEvent[] {
  // words: member of stored JSON
  return history.map(({ told_at: occurred_at, ...event }) => ({ ...event, occurred_at }));
}

export function storedHistory(events: readonly PackageEvent[]): PackageHistory {
  // words: member of stored JSON
  return events.map(({ occurred_at: told_at, ...event }) => ({ ...event, told_at }));
}
