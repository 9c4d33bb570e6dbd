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

/** A message that lacks data which its event requires. */
export class IncompleteMessage extends Error {
  override readonly name = 'IncompleteMessage';
}

function order(snapshot: OrderSnapshot) {
  return { order_id: publicId('ord', snapshot.id), status: snapshot.status };
}

function total(snapshot: OrderSnapshot) {
  return { total: { amount: snapshot.total_amount, currency: snapshot.currency } };
}

/** Data of both tracking events (docs/reference/store.openapi.json). */
function tracking(snapshot: OrderSnapshot) {
  const { id, tracking: newest } = snapshot;
  if (newest === null) throw new IncompleteMessage('the order has no tracking');
  const { carrier, tracking_number, tracking_url, updated_at, items } = newest;
  return {
    order_id: publicId('ord', id),
    carrier,
    tracking_number,
    tracking_url,
    updated_at,
    ...(items !== undefined && { items }),
  };
}

/** The ids of a release and of its products have the same prefix in the Store API. */
function product(snapshot: ProductSnapshot) {
  return { product_id: publicId('prod', snapshot.id), release_id: publicId('prod', snapshot.release_id) };
}

/** Data of every event of an order, if the client sent metadata with the order. */
function metadata({ metadata: sent }: OrderSnapshot) {
  return sent === undefined ? {} : { metadata: sent };
}

/** Part of every event of a test order. */
function mode({ test }: OrderSnapshot) {
  return test === true ? { livemode: false } : {};
}

type Render = (message: Message) => EventContent | undefined;

function renderEvent<Event extends WebhookEvent, Payload>(
  messageType: MessageType<Event, z.ZodType<Payload>>,
  subjectOf: (payload: Payload) => OrderSnapshot | ProductSnapshot,
  data: (payload: Payload) => Data,
): Render {
  return (message) => {
    if (!messageType.is(message)) return undefined;
    const { id: subjectId, creator_id: creatorId } = subjectOf(message.data);
    return { event: messageType.type, creatorId, subjectId, data: data(message.data) };
  };
}

function renderOrderEvent<Event extends WebhookEvent, Payload extends { order: OrderSnapshot }>(
  messageType: MessageType<Event, z.ZodType<Payload>>,
  data: (payload: Payload) => EventData<Event>,
): Render {
  return renderEvent(
    messageType,
    (payload) => payload.order,
    (payload) => ({ ...data(payload), ...mode(payload.order), ...metadata(payload.order) }),
  );
}

function renderProductEvent<Event extends WebhookEvent, Payload extends { product: ProductSnapshot }>(
  messageType: MessageType<Event, z.ZodType<Payload>>,
  data: (payload: Payload) => EventData<Event>,
): Render {
  return renderEvent(messageType, (payload) => payload.product, data);
}

const renderers = new Map<string, Render>(
  Object.entries({
    'order.created': renderOrderEvent(messages.orderCreated, ({ order: o }) => ({
      ...order(o),
      source: o.source,
      ...total(o),
      item_count: o.item_count,
      updated_at: o.updated_at,
    })),
    'order.processing': renderOrderEvent(messages.orderProcessing, ({ order: o }) => ({
      ...order(o),
      updated_at: o.updated_at,
    })),
    'order.shipped': renderOrderEvent(messages.orderShipped, ({ order: o }) => tracking(o)),
    'order.tracking_updated': renderOrderEvent(messages.orderTrackingUpdated, ({ order: o }) => tracking(o)),
    'order.delivered': renderOrderEvent(messages.orderDelivered, ({ order: o }) => ({
      ...order(o),
      delivered_at: o.delivered_at ?? o.updated_at,
      updated_at: o.updated_at,
    })),
    'order.cancelled': renderOrderEvent(messages.orderCancelled, ({ order: o, reason }) => ({
      ...order(o),
      reason,
      updated_at: o.updated_at,
    })),
    'order.payment_failed': renderOrderEvent(messages.orderPaymentFailed, ({ order: o, reason }) => ({
      ...order(o),
      ...total(o),
      reason,
      updated_at: o.updated_at,
    })),
    'product.available': renderProductEvent(messages.productAvailable, ({ product: p }) => ({
      ...product(p),
      status: p.status,
      updated_at: p.updated_at,
    })),
    'product.unavailable': renderProductEvent(messages.productUnavailable, ({ product: p }) => ({
      ...product(p),
      status: p.status,
      updated_at: p.updated_at,
    })),
    'product.inventory_changed': renderProductEvent(
      messages.productInventoryChanged,
      ({ product: p, previous_quantity }) => ({
        ...product(p),
        quantity: p.quantity,
        previous_quantity,
        updated_at: p.updated_at,
      }),
    ),
    'product.in_stock': renderProductEvent(messages.productInStock, ({ product: p }) => ({
      ...product(p),
      quantity: p.quantity,
      updated_at: p.updated_at,
    })),
    'product.out_of_stock': renderProductEvent(messages.productOutOfStock, ({ product: p }) => ({
      ...product(p),
      quantity: p.quantity,
      updated_at: p.updated_at,
    })),
  } satisfies Record<WebhookEvent, Render>),
);

/** Returns the event of a message; undefined if the message is not an event. @throws IncompleteMessage */
export function eventContent(message: Message): EventContent | undefined {
  return renderers.get(message.type)?.(message);
}
