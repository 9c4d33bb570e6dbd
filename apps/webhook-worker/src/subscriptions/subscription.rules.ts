import { isWebhookEvent, type WebhookEvent } from '@fulfilment/contracts';

/** A client may have so many for one creator, disabled ones included. */
export const mostSubscriptions = 50;

/** The label of the payloads' present form. A subscription keeps the one it was created with. */
export const currentApiVersion = '2026-11-01';

/** All labels that are still rendered, for fan-out. */
export const apiVersions = [currentApiVersion] as const;
export type ApiVersion = (typeof apiVersions)[number];

export const subscriptionStatuses = ['active', 'disabled'] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];
/** A deleted subscription is not shown any more, but what was to be sent for it has to end. */
export type SubscriptionState = SubscriptionStatus | 'deleted';

/** Why a subscription is disabled: its owner did it, its receiver answered 410, or it failed too often for too long. */
export type DisabledReason = 'owner' | 'gone' | 'failing';

export interface Wrong {
  readonly field: string;
  readonly reason: string;
}

/** One detail for each that is not the name of an event. */
export function unknownEvents(events: readonly unknown[]): Wrong[] {
  return events.flatMap((name, index) =>
    isWebhookEvent(name) ? [] : [{ field: `events.${index}`, reason: 'is not the name of an event' }],
  );
}

/** Names given twice are stored once, in the order they came. */
export function distinct(events: readonly unknown[]): WebhookEvent[] {
  return [...new Set(events.filter(isWebhookEvent))];
}

/** Of a request. */
export const maxEvents = 100;
export const maxUrlCharacters = 2048;
