import { isWebhookEvent } from '@fulfilment/contracts';

/** A client may have so many for one creator, disabled ones included. */
export const mostSubscriptions = 50;

/** The label of the payloads' present form. A subscription keeps the one it was created with. */
export const currentApiVersion = '2026-11-01';

/** All labels that are still rendered, for fan-out. */
export const apiVersions = [currentApiVersion] as const;
export type ApiVersion = (typeof apiVersions)[number];

export interface Wrong {
  readonly field: string;
  readonly reason: string;
}

/** One detail per name that is no event. */
export function unknownEvents(events: readonly string[]): Wrong[] {
  return events.flatMap((name, index) =>
    isWebhookEvent(name) ? [] : [{ field: `events.${index}`, reason: 'is not the name of an event' }],
  );
}

/** Names given twice are stored once, in the order they came. */
export function distinct(events: readonly string[]): string[] {
  return [...new Set(events)];
}
