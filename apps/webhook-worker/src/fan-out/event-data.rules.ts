import {
  type Message,
  type MessageKind,
  messages,
  type OrderSnapshot,
  type ProductSnapshot,
  publicId,
  type WebhookEvent,
} from '@fulfilment/contracts';
import type { z } from 'zod';
import type { EventData } from './event-data.shapes.js';

type Data = Readonly<Record<string, unknown>>;

/** What an event tells: identifiers, state and what a receiver needs to route it. Never a name, an address or an e-mail. */
export interface EventContent {
  readonly event: WebhookEvent;
  readonly creatorId: string;
  readonly data: Data;
}

/** A fact that no subscriber could make sense of. */
export class IncompleteFact extends Error {
  override readonly name = 'IncompleteFact';
}

function order(snapshot: OrderSnapshot) {
  return { order_id: publicId('ord', snapshot.id), status: snapshot.status };
}

function total(snapshot: OrderSnapshot) {
  return { total: { amount: snapshot.total_amount, currency: snapshot.currency } };
}

/** Of both tracking events: these five members alone (docs/reference/store.openapi.json). */
function tracking({ id, tracking: newest }: OrderSnapshot) {
  if (newest === null) throw new IncompleteFact('the order has no tracking');
  const { carrier, tracking_number, tracking_url, updated_at } = newest;
  return { order_id: publicId('ord', id), carrier, tracking_number, tracking_url, updated_at };
}

function product(snapshot: ProductSnapshot) {
  return { product_id: publicId('prod', snapshot.id), release_id: publicId('prod', snapshot.release_id) };
}

function updated({ updated_at }: { updated_at: string }) {
  return { updated_at };
}

type Render = (message: Message) => EventContent | undefined;

function whenOrder<Event extends WebhookEvent, Fact extends { order: OrderSnapshot }>(
  kind: MessageKind<Event, z.ZodType<Fact>>,
  data: (fact: Fact) => EventData<Event>,
): Render {
  return (message) =>
    kind.is(message)
      ? { event: kind.type, creatorId: message.data.order.creator_id, data: data(message.data) }
      : undefined;
}

function whenProduct<Event extends WebhookEvent, Fact extends { product: ProductSnapshot }>(
  kind: MessageKind<Event, z.ZodType<Fact>>,
  data: (fact: Fact) => EventData<Event>,
): Render {
  return (message) =>
    kind.is(message)
      ? { event: kind.type, creatorId: message.data.product.creator_id, data: data(message.data) }
      : undefined;
}

const contents = new Map<string, Render>(
  Object.entries({
    'order.created': whenOrder(messages.orderCreated, ({ order: o }) => ({
      ...order(o),
      source: o.source,
      ...total(o),
      item_count: o.item_count,
      ...updated(o),
    })),
    'order.processing': whenOrder(messages.orderProcessing, ({ order: o }) => ({
      ...order(o),
      ...updated(o),
    })),
    'order.shipped': whenOrder(messages.orderShipped, ({ order: o }) => tracking(o)),
    'order.tracking_updated': whenOrder(messages.orderTrackingUpdated, ({ order: o }) => tracking(o)),
    'order.delivered': whenOrder(messages.orderDelivered, ({ order: o }) => ({
      ...order(o),
      delivered_at: o.delivered_at ?? o.updated_at,
      ...updated(o),
    })),
    'order.cancelled': whenOrder(messages.orderCancelled, ({ order: o, reason }) => ({
      ...order(o),
      reason,
      ...updated(o),
    })),
    'order.payment_failed': whenOrder(messages.orderPaymentFailed, ({ order: o, reason }) => ({
      ...order(o),
      ...total(o),
      reason,
      ...updated(o),
    })),
    'product.available': whenProduct(messages.productAvailable, ({ product: p }) => ({
      ...product(p),
      status: p.status,
      ...updated(p),
    })),
    'product.unavailable': whenProduct(messages.productUnavailable, ({ product: p }) => ({
      ...product(p),
      status: p.status,
      ...updated(p),
    })),
    'product.inventory_changed': whenProduct(
      messages.productInventoryChanged,
      ({ product: p, previous_quantity }) => ({
        ...product(p),
        quantity: p.quantity,
        previous_quantity,
        ...updated(p),
      }),
    ),
    'product.in_stock': whenProduct(messages.productInStock, ({ product: p }) => ({
      ...product(p),
      quantity: p.quantity,
      ...updated(p),
    })),
    'product.out_of_stock': whenProduct(messages.productOutOfStock, ({ product: p }) => ({
      ...product(p),
      quantity: p.quantity,
      ...updated(p),
    })),
  } satisfies Record<WebhookEvent, Render>),
);

/** The business event a message is, or undefined when it is none. @throws IncompleteFact */
export function eventContent(message: Message): EventContent | undefined {
  return contents.get(message.type)?.(message);
}
