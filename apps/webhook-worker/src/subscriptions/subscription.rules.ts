import { type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import type { ErrorDetail } from '@fulfilment/error-envelope';

/** Maximum number of subscriptions of a client for one creator, including disabled ones. */
export const maxSubscriptions = 50;
/**
 * Maximum number of subscriptions of all clients for one creator. It bounds the deliveries of an event, which
 * are written in one statement for the whole service.
 */
export const maxSubscriptionsOfCreator = 1_000;

/** Version of new payloads. A subscription keeps the version it was created with. */
export const currentApiVersion = '2026-11-01';

/** All versions that fan-out still renders. */
export const apiVersions = [currentApiVersion] as const;
export type ApiVersion = (typeof apiVersions)[number];

export const subscriptionStatuses = ['active', 'disabled'] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];
/** A deleted subscription is hidden, but its open deliveries must still be cancelled. */
export type SubscriptionState = SubscriptionStatus | 'deleted';

/** `v1`: HMAC with the secret. `v1a`: an Ed25519 signature too. */
export const signatureVersions = ['v1', 'v1a'] as const;
export type SignatureVersion = (typeof signatureVersions)[number];

/** Disabled by its owner, by a 410 of its receiver, or because it failed too often for too long. */
export type DisabledReason = 'owner' | 'gone' | 'failing';

/** Names that stand for all events, or all of one kind, including events that are added later. */
const eventGroups = ['*', 'order.*', 'product.*'] as const;

/** The names that a subscription may list. */
export const subscribableNames = [...webhookEvents, ...eventGroups] as const;
type SubscribableName = (typeof subscribableNames)[number];

function isSubscribable(name: unknown): name is SubscribableName {
  return subscribableNames.some((each) => each === name);
}

/** Returns the first event that these names stand for; undefined if all are names of retired events. */
export function firstEventOf(names: readonly string[]): WebhookEvent | undefined {
  const [first] = names.flatMap((name) => webhookEvents.filter((event) => standsFor(name, event)));
  return first;
}

function standsFor(name: string, event: WebhookEvent): boolean {
  return name === event || (name.endsWith('*') && event.startsWith(name.slice(0, -1)));
}

/** Returns one detail for each unknown event name. */
export function unknownEvents(events: readonly unknown[]): ErrorDetail[] {
  return events.flatMap((name, index) =>
    isSubscribable(name) ? [] : [{ field: `events.${index}`, reason: 'is not the name of an event' }],
  );
}

/** Removes repeated names, and keeps their order. */
export function distinctEvents(events: readonly unknown[]): SubscribableName[] {
  return [...new Set(events.filter(isSubscribable))];
}

/** Maximum number of event names in a request, repeated names included. */
export const maxEvents = 100;
export const maxUrlCharacters = 2048;

/** Largest `max_in_flight` (concurrent requests to the receiver) that an owner may set, and the default. */
export const maxInFlightLimit = 64;
/** A response counts due deliveries up to this number, so that a read does not count a whole backlog. */
export const maxCountedDue = 1_000;
