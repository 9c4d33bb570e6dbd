import {
  type Message,
  type MessageType,
  messages,
  type OrderSnapshot,
  type ProductSnapshot,
  publicId,
  type WebhookEvent,
} from '@fulfilment/contracts';
import type { z } from 'zod';
import type { EventData } from './event-data.shapes.js';

type Data = Readonly<Record<string, unknown>>;

/** Content of an event. */
export interface EventContent {
  readonly event: WebhookEvent;
  readonly creatorId: string;
  /** UUID of the order or product that it is about. */
  readonly subjectId: string;
  readonly data: Data;
}

/** Thrown for a message that lacks data which its event requires. */
export class IncompleteMessage extends Error {
  override readonly name = 'IncompleteMessage';
}

function orderStatus({ id, status }: OrderSnapshot) {
  return { order_id: publicId('ord', id), status };
}

function orderTotal({ total_amount: amount, currency }: OrderSnapshot) {
  return { total: { amount, currency } };
}

/** Data of `order.shipped` and `order.tracking_updated`. */
function orderTracking({ order: { id, tracking } }: { readonly order: OrderSnapshot }) {
  if (tracking === null) throw new IncompleteMessage('the order has no tracking');
  const { carrier, tracking_number, tracking_url, updated_at, items } = tracking;
  return {
    order_id: publicId('ord', id),
    carrier,
    tracking_number,
    tracking_url,
    updated_at,
    ...(items !== undefined && { items }),
  };
}

/** `livemode` if the order is a test order, and `metadata` if it has any. */
function optionalMembers({ test, metadata }: OrderSnapshot) {
  return { ...(test === true && { livemode: false }), ...(metadata !== undefined && { metadata }) };
}

/** The ids of a release and of its products have the same prefix in the Store API. */
function productIds({ id, release_id: releaseId }: ProductSnapshot) {
  return { product_id: publicId('prod', id), release_id: publicId('prod', releaseId) };
}

function productStatus({ product }: { readonly product: ProductSnapshot }) {
  return { ...productIds(product), status: product.status, updated_at: product.updated_at };
}

function productQuantity({ product }: { readonly product: ProductSnapshot }) {
  return { ...productIds(product), quantity: product.quantity, updated_at: product.updated_at };
}

type ToEvent = (message: Message) => EventContent | undefined;

function eventOf<Event extends WebhookEvent, Payload>(
  messageType: MessageType<Event, z.ZodType<Payload>>,
  subjectOf: (payload: Payload) => OrderSnapshot | ProductSnapshot,
  data: (payload: Payload) => Data,
): ToEvent {
  return (message) => {
    if (!messageType.is(message)) return undefined;
    const { id: subjectId, creator_id: creatorId } = subjectOf(message.data);
    return { event: messageType.type, creatorId, subjectId, data: data(message.data) };
  };
}

function orderEvent<Event extends WebhookEvent, Payload extends { order: OrderSnapshot }>(
  messageType: MessageType<Event, z.ZodType<Payload>>,
  data: (payload: Payload) => EventData<Event>,
): ToEvent {
  return eventOf(
    messageType,
    (payload) => payload.order,
    (payload) => ({ ...data(payload), ...optionalMembers(payload.order) }),
  );
}

function productEvent<Event extends WebhookEvent, Payload extends { product: ProductSnapshot }>(
  messageType: MessageType<Event, z.ZodType<Payload>>,
  data: (payload: Payload) => EventData<Event>,
): ToEvent {
  return eventOf(messageType, (payload) => payload.product, data);
}

const toEventByType = new Map<string, ToEvent>(
  Object.entries({
    'order.created': orderEvent(messages.orderCreated, ({ order }) => ({
      ...orderStatus(order),
      source: order.source,
      ...orderTotal(order),
      item_count: order.item_count,
      updated_at: order.updated_at,
    })),
    'order.processing': orderEvent(messages.orderProcessing, ({ order }) => ({
      ...orderStatus(order),
      updated_at: order.updated_at,
    })),
    'order.shipped': orderEvent(messages.orderShipped, orderTracking),
    'order.tracking_updated': orderEvent(messages.orderTrackingUpdated, orderTracking),
    'order.delivered': orderEvent(messages.orderDelivered, ({ order }) => ({
      ...orderStatus(order),
      delivered_at: order.delivered_at ?? order.updated_at,
      updated_at: order.updated_at,
    })),
    'order.cancelled': orderEvent(messages.orderCancelled, ({ order, reason }) => ({
      ...orderStatus(order),
      reason,
      updated_at: order.updated_at,
    })),
    'order.payment_failed': orderEvent(messages.orderPaymentFailed, ({ order, reason }) => ({
      ...orderStatus(order),
      ...orderTotal(order),
      reason,
      updated_at: order.updated_at,
    })),
    'product.available': productEvent(messages.productAvailable, productStatus),
    'product.unavailable': productEvent(messages.productUnavailable, productStatus),
    'product.inventory_changed': productEvent(
      messages.productInventoryChanged,
      ({ product, previous_quantity }) => ({
        ...productIds(product),
        quantity: product.quantity,
        previous_quantity,
        updated_at: product.updated_at,
      }),
    ),
    'product.in_stock': productEvent(messages.productInStock, productQuantity),
    'product.out_of_stock': productEvent(messages.productOutOfStock, productQuantity),
  } satisfies Record<WebhookEvent, ToEvent>),
);

/** Returns the event of a message; undefined if the message is not an event. @throws IncompleteMessage */
export function toEvent(message: Message): EventContent | undefined {
  return toEventByType.get(message.type)?.(message);
}
