import { messages, type Message, type OrderStatus, parsePublicId, publicId } from '@fulfilment/contracts';
import { RejectedMessage } from '@fulfilment/messaging';
import { isDeepStrictEqual } from 'node:util';
import type { ItemRow, OrderRow, PackageRow, PackedItem } from '../orders/order-row.js';
import { type FulfilmentAction, statusesByAction } from '../orders/order.rules.js';
import { EventOutOfOrderError } from './deferred-events.js';
import {
  isPartialShipment,
  type PackageEvent,
  buildPackages,
  countPiecesOf,
  addEvent,
} from './package.rules.js';

/** Maximum number of package events that an order stores. */
export const maxPackageEvents = 1000;

/** Each action as error messages name it. */
const actionPhrases: Readonly<Record<FulfilmentAction, string>> = {
  ship: 'ship an order',
  correct_tracking: 'correct the tracking of an order',
  deliver: 'deliver an order',
  cancel: 'cancel an order',
};

/** Test mode responds to it with a conflict, unlike to other rejections. */
export class TooManyPackageEvents extends RejectedMessage {}

/** A fulfilment event with the order that it is about. */
export interface OrderEvent {
  readonly message: Message;
  /** UUID of the order. */
  readonly orderId: string;
  /** The public id of the order, as the event contains it. */
  readonly publicOrderId: string;
  readonly action: FulfilmentAction;
  readonly content:
    | { readonly kind: 'package'; readonly event: PackageEvent }
    | { readonly kind: 'cancel'; readonly reason: string };
}

/** The parts of an order that decide what an event changes. */
interface OrderState {
  readonly row: Pick<OrderRow, 'id' | 'status' | 'packages'>;
  /** The events of its packages. */
  readonly history: readonly PackageEvent[];
  readonly items: readonly Pick<ItemRow, 'product_id' | 'quantity'>[];
}

/** What an event changes in an order. */
export type OrderChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'cancel'; readonly reason: string }
  /** Only the stored events change. */
  | { readonly kind: 'history'; readonly history: readonly PackageEvent[] }
  | PackagesChange;

export interface PackagesChange {
  readonly kind: 'packages';
  readonly history: readonly PackageEvent[];
  readonly packages: readonly PackageRow[];
  readonly status: OrderStatus;
  /** Time of the latest arrival if the order is delivered, else null. */
  readonly deliveredAt: string | null;
  /** Whether `tracking.updated_at` changes. */
  readonly updatesTrackingTime: boolean;
  /** The type of the message that reports the change; undefined if none does. */
  readonly messageType: ReturnType<typeof chooseMessageType>;
}

interface Tracking {
  readonly carrier: string;
  readonly tracking_number: string;
  readonly tracking_url: string;
}

/** @throws RejectedMessage when the message is no event of an order, or has an invalid order id */
export function toOrderEvent(message: Message): OrderEvent {
  const { occurred_at } = message;
  if (messages.fulfilmentShipped.is(message)) {
    const { shipped_at = occurred_at } = message.data;
    const items = message.data.items && sumItemsBySku(message.data.items);
    const event = {
      kind: 'shipped',
      ...pickTracking(message.data),
      shipped_at,
      occurred_at,
      ...(items !== undefined && { items }),
    } as const;
    return newOrderEvent(message, message.data.order_id, 'ship', { kind: 'package', event });
  }
  if (messages.fulfilmentTrackingCorrected.is(message)) {
    const { replaces_tracking_number: replaces = null } = message.data;
    const event = { kind: 'corrected', ...pickTracking(message.data), replaces, occurred_at } as const;
    return newOrderEvent(message, message.data.order_id, 'correct_tracking', { kind: 'package', event });
  }
  if (messages.fulfilmentDelivered.is(message)) {
    const { tracking_number = null, delivered_at = occurred_at } = message.data;
    const event = { kind: 'delivered', tracking_number, delivered_at, occurred_at } as const;
    return newOrderEvent(message, message.data.order_id, 'deliver', { kind: 'package', event });
  }
  if (messages.fulfilmentCancelled.is(message)) {
    const { order_id, reason } = message.data;
    return newOrderEvent(message, order_id, 'cancel', { kind: 'cancel', reason });
  }
  throw new RejectedMessage(`${message.type} does not belong to this queue`);
}

function newOrderEvent(
  message: Message,
  publicOrderId: string,
  action: FulfilmentAction,
  content: OrderEvent['content'],
): OrderEvent {
  const orderId = parsePublicId('ord', publicOrderId);
  if (orderId === undefined) throw unknownOrder(publicOrderId);
  return { message, orderId, publicOrderId, action, content };
}

/**
 * Returns what an event changes in its order. The order's packages result from all its events.
 * @throws RejectedMessage, EventOutOfOrderError
 */
export function planChange(order: OrderState, event: OrderEvent): OrderChange {
  const { action, content } = event;
  const { id, status } = order.row;
  const { applied, deferred } = statusesByAction[action];
  if (deferred.includes(status))
    throw new EventOutOfOrderError(id, `cannot ${actionPhrases[action]} that is still ${status}`);
  if (!applied.includes(status))
    throw new RejectedMessage(`cannot ${actionPhrases[action]} that is ${status}`);
  if (content.kind === 'package') return planPackagesChange(order, content.event);
  return status === 'cancelled' ? { kind: 'none' } : { kind: 'cancel', reason: content.reason };
}

/** Returns the change by a package event. The first package makes the order `shipped`. */
function planPackagesChange({ row, history: before, items }: OrderState, event: PackageEvent): OrderChange {
  const ordered = sumItemsBySku(
    items.map(({ product_id, quantity }) => ({ sku: publicId('prod', product_id), quantity })),
  );
  if (event.kind === 'shipped') requireOrdered(event.items ?? [], ordered);
  const history = addEvent(before, event);
  if (history === before) return { kind: 'none' }; // a repetition
  if (history.length > maxPackageEvents)
    throw new TooManyPackageEvents('the order has too many fulfilment events');
  const { packages, notApplied } = buildPackages(history);
  const reason = notApplied.get(event);
  if (reason === 'number_taken')
    throw new RejectedMessage('another package of the order has this tracking number');
  if (reason === 'unknown_package')
    throw new EventOutOfOrderError(row.id, 'the order has no such package yet');
  if (isDeepStrictEqual(packages, row.packages)) return { kind: 'history', history };
  const trackingChanged = !isDeepStrictEqual(packages.map(pickTracking), row.packages.map(pickTracking));
  const allHaveArrived =
    !isPartialShipment(packages, ordered) && packages.every(({ delivered_at }) => delivered_at !== null);
  // A delivered order stays delivered, whatever else is shipped.
  const status = allHaveArrived || row.status === 'delivered' ? 'delivered' : 'shipped';
  const messageType = chooseMessageType(row.status, status, { trackingChanged });
  return {
    kind: 'packages',
    history,
    packages,
    status,
    deliveredAt: status === 'delivered' ? lastArrival(packages) : null,
    // Each `order.tracking_updated` has a newer `tracking.updated_at` than the one before.
    updatesTrackingTime: trackingChanged || messageType === messages.orderTrackingUpdated,
    messageType,
  };
}

export function unknownOrder(publicOrderId: string): RejectedMessage {
  return new RejectedMessage(`order ${publicOrderId} does not exist`);
}

function pickTracking({ carrier, tracking_number, tracking_url }: Tracking): Tracking {
  return { carrier, tracking_number, tracking_url };
}

/** Returns one item per product, in the order of the skus, so that equal contents have equal lists. */
function sumItemsBySku(items: readonly PackedItem[]): PackedItem[] {
  const skus = [...new Set(items.map(({ sku }) => sku))].sort();
  return skus.map((sku) => ({ sku, quantity: countPiecesOf(sku, items) }));
}

/**
 * Checks that one package contains no other products and no more pieces than were ordered. All packages
 * together may contain more pieces, since a package may replace a lost one.
 * @throws RejectedMessage
 */
function requireOrdered(packed: readonly PackedItem[], ordered: readonly PackedItem[]): void {
  for (const { sku, quantity } of packed) {
    const pieces = countPiecesOf(sku, ordered);
    if (pieces === 0) throw new RejectedMessage(`the order has no product ${sku}`);
    if (quantity > pieces) throw new RejectedMessage(`the order has only ${pieces} pieces of ${sku}`);
  }
}

/** Returns the time of the latest arrival, or null before the first one. */
function lastArrival(packages: readonly PackageRow[]): string | null {
  const arrivals = packages.flatMap(({ delivered_at }) => delivered_at ?? []);
  return arrivals.toSorted((one, other) => Date.parse(one) - Date.parse(other)).at(-1) ?? null;
}

/**
 * Returns the type of the message that reports a change of the packages; undefined if none does. The arrival
 * of some packages of a shipped order is not reported. A change of the packages of a delivered order always
 * is: its status stays the same, so only `order.tracking_updated` can report the change.
 */
function chooseMessageType(
  before: OrderStatus,
  after: OrderStatus,
  { trackingChanged }: { readonly trackingChanged: boolean },
) {
  if (before === 'processing') return messages.orderShipped;
  if (before !== after) return messages.orderDelivered;
  return trackingChanged || after === 'delivered' ? messages.orderTrackingUpdated : undefined;
}
