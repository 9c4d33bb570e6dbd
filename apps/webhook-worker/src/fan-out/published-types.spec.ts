import {
  type CatalogueStatus,
  type OrderStatus,
  type WebhookEvent,
  webhookEvents,
} from '@fulfilment/contracts';
import {
  apiVersion,
  type CatalogueStatus as PublishedCatalogueStatus,
  type OrderStatus as PublishedOrderStatus,
  type WebhookEventData,
  type WebhookEventName,
  webhookEventNames,
} from '@fulfilment/webhook-verifier';
import { apiVersions, currentApiVersion } from '../subscriptions/subscription.rules.js';
import type { EventData } from './event-data.shapes.js';

/**
 * `true` if both types are assignable to each other and have the same member names: an optional member that
 * only one of them has does not prevent the assignment.
 */
type Same<A, B> = [A, B, keyof A, keyof B] extends [B, A, keyof B, keyof A] ? true : false;

/** Checked by the compiler: if two types differ, `true` is a type error at the name of the event. */
const sameData: { readonly [Name in WebhookEvent]: Same<EventData<Name>, WebhookEventData[Name]> } = {
  'order.created': true,
  'order.processing': true,
  'order.shipped': true,
  'order.tracking_updated': true,
  'order.delivered': true,
  'order.cancelled': true,
  'order.payment_failed': true,
  'product.available': true,
  'product.unavailable': true,
  'product.inventory_changed': true,
  'product.in_stock': true,
  'product.out_of_stock': true,
};
const sameStates: readonly [
  Same<WebhookEvent, WebhookEventName>,
  Same<OrderStatus, PublishedOrderStatus>,
  Same<CatalogueStatus, PublishedCatalogueStatus>,
] = [true, true, true];

describe('the published types of events', () => {
  it('are equal to the types of the sent data', () => {
    expect(Object.keys(sameData)).toEqual([...webhookEvents]);
    expect(sameStates).not.toContain(false);
  });

  it('have the same events, in the same order', () => {
    expect(webhookEventNames).toEqual(webhookEvents);
  });

  it('have the api_version of new subscriptions', () => {
    expect(apiVersion).toBe(currentApiVersion);
    expect(apiVersions).toContain(apiVersion);
  });
});
