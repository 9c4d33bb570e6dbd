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

/** `true` where each can stand for the other: no member more, less, optional or of another type. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;

/**
 * Types are held by the compiler: where two have drifted apart, `true` is refused here by the name of the
 * event.
 */
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

describe('the types of events that receivers are given', () => {
  it('are those of what is sent', () => {
    expect(Object.keys(sameData)).toEqual([...webhookEvents]);
    expect(sameStates).not.toContain(false);
  });

  it('name the same events, in the same order', () => {
    expect(webhookEventNames).toEqual(webhookEvents);
  });

  it('are of the version that new subscriptions get', () => {
    expect(apiVersion).toBe(currentApiVersion);
    expect(apiVersions).toContain(apiVersion);
  });
});
