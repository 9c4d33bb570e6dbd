import { type Message, messages, type OrderStatus, publicId, uuidv7 } from '@fulfilment/contracts';
import { RejectedMessage } from '@fulfilment/messaging';
import type { PackageRow } from '../orders/order-row.js';
import { EventOutOfOrderError } from './deferred-events.js';
import { atMinute, cancelled, corrected, delivered, shipped } from './fulfilment.fixture.js';
import {
  maxPackageEvents,
  type OrderChange,
  planChange,
  toOrderEvent,
  TooManyPackageEvents,
} from './order-events.js';
import type { PackageEvent } from './package.rules.js';

const orderUuid = uuidv7();
const orderId = publicId('ord', orderUuid);
const productUuid = uuidv7();
const sku = publicId('prod', productUuid);

/** The state of an order with two pieces of a product, to which events are applied. */
class OrderUnderTest {
  private packages: readonly PackageRow[] = [];
  private history: readonly PackageEvent[] = [];

  constructor(private status: OrderStatus) {}

  /** Fills the history with copies of an event. */
  fillHistory(event: PackageEvent, length: number): void {
    this.history = Array.from({ length }, () => event);
  }

  apply(message: Message): OrderChange {
    const row = { id: orderUuid, status: this.status, packages: [...this.packages] };
    const items = [{ product_id: productUuid, quantity: 2 }];
    const change = planChange({ row, history: this.history, items }, toOrderEvent(message));
    if (change.kind === 'packages') ({ packages: this.packages, status: this.status } = change);
    if (change.kind === 'packages' || change.kind === 'history') this.history = change.history;
    return change;
  }
}
const newOrder = (status: OrderStatus = 'processing') => new OrderUnderTest(status);
/** Returns the status after a change and the message that reports it. */
const effectOf = (change: OrderChange) =>
  change.kind === 'packages' ? [change.status, change.messageType?.type] : change.kind;

describe('an event of the warehouse', () => {
  it.each<[OrderStatus, Message, string]>([
    ['pending', shipped(orderId, 'A', atMinute(1)), 'cannot ship an order that is still pending'],
    ['pending', cancelled(orderId), 'cannot cancel an order that is still pending'],
    ['processing', delivered(orderId, atMinute(1)), 'cannot deliver an order that is still processing'],
    [
      'processing',
      corrected(orderId, 'A', atMinute(1)),
      'cannot correct the tracking of an order that is still processing',
    ],
  ])('is out of order for an order that is %s', (status, event, reason) => {
    expect(() => newOrder(status).apply(event)).toThrow(new EventOutOfOrderError(orderUuid, reason));
  });

  it.each<[OrderStatus, Message, string]>([
    ['cancelled', shipped(orderId, 'A', atMinute(1)), 'cannot ship an order that is cancelled'],
    ['payment_failed', delivered(orderId, atMinute(1)), 'cannot deliver an order that is payment_failed'],
    ['shipped', cancelled(orderId), 'cannot cancel an order that is shipped'],
  ])('is rejected for an order that is %s', (status, event, reason) => {
    expect(() => newOrder(status).apply(event)).toThrow(new RejectedMessage(reason));
  });

  it('cancels an order once', () => {
    expect(newOrder().apply(cancelled(orderId))).toEqual({ kind: 'cancel', reason: 'pressing fault' });
    expect(newOrder('cancelled').apply(cancelled(orderId))).toEqual({ kind: 'none' });
  });

  it('is rejected for another product, and for more pieces than were ordered', () => {
    const shippedWith = (item: { sku: string; quantity: number }) =>
      shipped(orderId, 'A', atMinute(1), [item, item]);
    const other = publicId('prod', uuidv7());
    expect(() => newOrder().apply(shippedWith({ sku: other, quantity: 1 }))).toThrow(
      `has no product ${other}`,
    );
    expect(() => newOrder().apply(shippedWith({ sku, quantity: 2 }))).toThrow(`has only 2 pieces of ${sku}`);
    expect(effectOf(newOrder().apply(shippedWith({ sku, quantity: 1 })))).toEqual([
      'shipped',
      'order.shipped',
    ]);
  });

  it('is rejected or deferred if its package does not fit', () => {
    const order = newOrder();
    order.apply(shipped(orderId, 'A', atMinute(1)));
    order.apply(shipped(orderId, 'B', atMinute(1)));
    expect(() => order.apply(corrected(orderId, 'B', atMinute(2), 'A'))).toThrow(RejectedMessage);
    expect(() => order.apply(corrected(orderId, 'D', atMinute(2), 'C'))).toThrow(EventOutOfOrderError);
  });

  it('is rejected if the order stores too many events', () => {
    const time = '2026-01-01T00:00:00Z';
    const stored = {
      kind: 'delivered',
      tracking_number: 'X',
      delivered_at: time,
      occurred_at: time,
    } as const;
    const order = newOrder();
    order.fillHistory(stored, maxPackageEvents);
    expect(() => order.apply(shipped(orderId, 'A', atMinute(1)))).toThrow(TooManyPackageEvents);
    order.fillHistory(stored, maxPackageEvents - 1);
    expect(effectOf(order.apply(shipped(orderId, 'A', atMinute(1))))).toEqual(['shipped', 'order.shipped']);
  });
});

describe('the packages of an order', () => {
  it('are reported when the first is shipped, when the tracking changes, and when all have arrived', () => {
    const order = newOrder();
    const effects = [
      shipped(orderId, 'A', atMinute(1), [{ sku, quantity: 1 }]),
      shipped(orderId, 'A', atMinute(2), [{ sku, quantity: 1 }]),
      delivered(orderId, atMinute(3), 'A'),
      shipped(orderId, 'B', atMinute(4), [{ sku, quantity: 1 }]),
      corrected(orderId, 'B', atMinute(5), 'B'),
      delivered(orderId, atMinute(6), 'B'),
      shipped(orderId, 'C', atMinute(7), [{ sku, quantity: 1 }]),
      delivered(orderId, atMinute(8), 'C'),
    ].map((event) => effectOf(order.apply(event)));
    expect(effects).toEqual([
      ['shipped', 'order.shipped'],
      'none',
      ['shipped', undefined], // a piece is still to be shipped
      ['shipped', 'order.tracking_updated'],
      'history',
      ['delivered', 'order.delivered'],
      ['delivered', 'order.tracking_updated'],
      ['delivered', 'order.tracking_updated'],
    ]);
  });

  it('have a newer tracking time if the tracking changes or an arrival is reported by a message about it', () => {
    const order = newOrder();
    const updates = [
      shipped(orderId, 'A', atMinute(1), [{ sku, quantity: 1 }]),
      delivered(orderId, atMinute(2), 'A'),
      shipped(orderId, 'B', atMinute(3), [{ sku, quantity: 1 }]),
      delivered(orderId, atMinute(4), 'B'),
      shipped(orderId, 'C', atMinute(5), [{ sku, quantity: 1 }]),
      delivered(orderId, atMinute(6), 'C'),
    ].map((event) => {
      const change = order.apply(event);
      return change.kind === 'packages' && change.updatesTrackingTime;
    });
    expect(updates).toEqual([true, false, true, false, true, true]);
  });

  it('have the time of the latest arrival, once the order is delivered', () => {
    const order = newOrder();
    const deliveredAt = [
      shipped(orderId, 'A', atMinute(1)),
      shipped(orderId, 'B', atMinute(2)),
      delivered(orderId, atMinute(4), 'A'),
      delivered(orderId, atMinute(3), 'B'),
      shipped(orderId, 'C', atMinute(5)),
    ].map((event) => {
      const change = order.apply(event);
      return change.kind === 'packages' ? change.deliveredAt : change.kind;
    });
    const latest = atMinute(4).occurredAt.toISOString();
    expect(deliveredAt).toEqual([null, null, null, latest, latest]);
  });

  it('have the times of their events, unless these state others', () => {
    const times = { shipped_at: '2026-01-01T08:00:00Z' };
    const stated = messages.fulfilmentShipped.make(
      {
        order_id: orderId,
        carrier: 'UPS',
        tracking_number: 'A',
        tracking_url: 'https://track.example/A',
        ...times,
      },
      atMinute(1),
    );
    expect(toOrderEvent(stated).content).toMatchObject({ event: times });
    expect(toOrderEvent(delivered(orderId, atMinute(4))).content).toMatchObject({
      event: { tracking_number: null, delivered_at: '2026-01-01T09:04:00.000Z' },
    });
  });
});

describe('a message about an order', () => {
  it('is rejected with an id that no order has', () => {
    expect(() => toOrderEvent(cancelled('ord_x'))).toThrow(new RejectedMessage('order ord_x does not exist'));
  });

  it('is rejected if it is no event of the warehouse', () => {
    const created = messages.creatorChanged;
    expect(() => toOrderEvent({ ...cancelled(orderId), type: created.type })).toThrow(
      'does not belong to this queue',
    );
  });
});
