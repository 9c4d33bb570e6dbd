import { messages, type Message, type OrderSnapshot, type OrderStatus, uuidv7 } from '@fulfilment/contracts';

export type Item = OrderSnapshot['items'][number];

export function anItem(changes: Partial<Item> = {}): Item {
  return {
    id: uuidv7(),
    product_id: uuidv7(),
    release_id: uuidv7(),
    release_title: 'Tidal Maps',
    product_type: 'vinyl_12_lp',
    ean: '2000000000015',
    quantity: 2,
    unit_amount: 2499,
    royalty_rate: 1500,
    ...changes,
  };
}

/** A newly placed order: pending, version 1, by default of 2 pieces that cost £24.99 each. */
export function anOrder(creatorId: string, changes: Partial<OrderSnapshot> = {}): OrderSnapshot {
  const items = changes.items ?? [anItem()];
  return {
    id: uuidv7(),
    version: 1,
    creator_id: creatorId,
    status: 'pending',
    source: { platform: 'api', store_id: 'shop', external_order_id: '1' },
    placed_at: '2026-03-10T12:00:00.000Z',
    updated_at: '2026-03-10T12:00:00.000Z',
    currency: 'GBP',
    country_code: 'GB',
    total_amount: items.reduce((total, item) => total + item.quantity * item.unit_amount, 0),
    shipping_amount: 0,
    item_count: items.reduce((count, item) => count + item.quantity, 0),
    payment: { method: 'card', status: 'pending', charged_at: null, refunded_at: null },
    tracking: null,
    delivered_at: null,
    ...changes,
    items,
  };
}

type NextStatus = Exclude<OrderStatus, 'pending'>;

/** Returns the next version of an order. @param at time of the transition, and of its charge or refund */
export function transitioned(
  order: OrderSnapshot,
  status: NextStatus,
  at = '2026-03-10T12:00:01.000Z',
): OrderSnapshot {
  return {
    ...order,
    version: order.version + 1,
    status,
    updated_at: at,
    payment: paymentAfter(order.payment, status, at),
    tracking:
      status === 'shipped'
        ? {
            carrier: 'Post',
            tracking_number: 'TEST1',
            tracking_url: 'https://post.example/TEST1',
            updated_at: at,
          }
        : order.tracking,
    delivered_at: status === 'delivered' ? at : order.delivered_at,
  };
}

function paymentAfter(
  payment: OrderSnapshot['payment'],
  status: NextStatus,
  at: string,
): OrderSnapshot['payment'] {
  if (status === 'processing') return { ...payment, status: 'paid', charged_at: at };
  if (status === 'payment_failed') return { ...payment, status: 'failed' };
  if (status === 'cancelled' && payment.status === 'paid')
    return { ...payment, status: 'refunded', refunded_at: at };
  return payment;
}

export function paid(order: OrderSnapshot, at?: string): OrderSnapshot {
  return transitioned(order, 'processing', at);
}

/** The message that store-api publishes for an order in this status. */
export function orderMessage(order: OrderSnapshot): Message {
  const options = { occurredAt: new Date(order.updated_at) };
  const data = { order };
  switch (order.status) {
    case 'pending':
      return messages.orderCreated.make(data, options);
    case 'processing':
      return messages.orderProcessing.make(data, options);
    case 'payment_failed':
      return messages.orderPaymentFailed.make({ order, reason: 'declined' }, options);
    case 'shipped':
      return messages.orderShipped.make(data, options);
    case 'delivered':
      return messages.orderDelivered.make(data, options);
    case 'cancelled':
      return messages.orderCancelled.make({ order, reason: 'out of vinyl' }, options);
  }
}
