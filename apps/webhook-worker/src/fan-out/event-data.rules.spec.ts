import { type Message, messages, publicId, uuidv7, webhookEvents } from '@fulfilment/contracts';
import { anOrder, aProduct } from '../test/snapshots.fixture.js';
import { renderBody } from './envelope.rules.js';
import { IncompleteMessage, toEvent } from './event-data.rules.js';

const options = { occurredAt: new Date('2026-11-20T12:00:00Z') };
const creatorId = uuidv7();
const order = anOrder(creatorId);
const order_id = publicId('ord', order.id);
const tracking = {
  carrier: 'Royal Mail',
  tracking_number: 'RM1',
  tracking_url: 'https://track.example/RM1',
  updated_at: '2026-11-20T11:00:00.000Z',
};
const shipped = anOrder(creatorId, { id: order.id, status: 'shipped', tracking });
const product = aProduct(creatorId);
const product_id = publicId('prod', product.id);
const release_id = publicId('prod', product.release_id);
const { updated_at } = order;

const expected: readonly [Message, object][] = [
  [
    messages.orderCreated.make({ order }, options),
    {
      order_id,
      status: 'pending',
      source: order.source,
      total: { amount: 5348, currency: 'GBP' },
      item_count: 2,
      updated_at,
    },
  ],
  [
    messages.orderProcessing.make({ order: { ...order, status: 'processing' } }, options),
    { order_id, status: 'processing', updated_at },
  ],
  [messages.orderShipped.make({ order: shipped }, options), { order_id, ...tracking }],
  [messages.orderTrackingUpdated.make({ order: shipped }, options), { order_id, ...tracking }],
  [
    messages.orderDelivered.make(
      { order: { ...shipped, status: 'delivered', delivered_at: '2026-11-20T11:30:00.000Z' } },
      options,
    ),
    { order_id, status: 'delivered', delivered_at: '2026-11-20T11:30:00.000Z', updated_at },
  ],
  [
    messages.orderDelivered.make({ order: { ...shipped, status: 'delivered', delivered_at: null } }, options),
    { order_id, status: 'delivered', delivered_at: updated_at, updated_at },
  ],
  [
    messages.orderCancelled.make({ order: { ...order, status: 'cancelled' }, reason: 'No vinyl.' }, options),
    { order_id, status: 'cancelled', reason: 'No vinyl.', updated_at },
  ],
  [
    messages.orderPaymentFailed.make(
      { order: { ...order, status: 'payment_failed' }, reason: 'declined' },
      options,
    ),
    {
      order_id,
      status: 'payment_failed',
      total: { amount: 5348, currency: 'GBP' },
      reason: 'declined',
      updated_at,
    },
  ],
  [
    messages.productAvailable.make({ product }, options),
    { product_id, release_id, status: 'available', updated_at: product.updated_at },
  ],
  [
    messages.productUnavailable.make({ product: { ...product, status: 'unavailable' } }, options),
    { product_id, release_id, status: 'unavailable', updated_at: product.updated_at },
  ],
  [
    messages.productInventoryChanged.make({ product, previous_quantity: 5 }, options),
    { product_id, release_id, quantity: 4, previous_quantity: 5, updated_at: product.updated_at },
  ],
  [
    messages.productInventoryChanged.make({ product, previous_quantity: null }, options),
    { product_id, release_id, quantity: 4, previous_quantity: null, updated_at: product.updated_at },
  ],
  [
    messages.productInStock.make({ product }, options),
    { product_id, release_id, quantity: 4, updated_at: product.updated_at },
  ],
  [
    messages.productOutOfStock.make({ product: { ...product, quantity: 0 } }, options),
    { product_id, release_id, quantity: 0, updated_at: product.updated_at },
  ],
];

const cases = expected.map(([message, data]) => [message.type, message, data] as const);
const orderCases = cases.filter(([type]) => type.startsWith('order.'));

function withOrderMembers(message: Message, members: object): Message {
  const data = Object(message.data);
  return { ...message, data: { ...data, order: { ...data.order, ...members } } };
}

describe('the content of an event', () => {
  it.each(cases)('of %s has exactly the expected members', (_type, message, data) => {
    const subjectId = message.type.startsWith('order.') ? order.id : product.id;
    expect(toEvent(message)).toEqual({ event: message.type, creatorId, subjectId, data });
  });

  it.each(orderCases)('of %s has the metadata of its order, if it has any', (_type, message, data) => {
    const metadata = { cart: 'c_8841' };
    expect(toEvent(withOrderMembers(message, { metadata }))?.data).toEqual({ ...data, metadata });
  });

  it.each(orderCases)('of %s says that a test order is not live', (_type, message, data) => {
    const content = toEvent(withOrderMembers(message, { test: true }));
    expect(content?.data).toEqual({ ...data, livemode: false });
  });

  it.each([messages.orderShipped, messages.orderTrackingUpdated])(
    'of $type has the items of the newest package, if they are known',
    (type) => {
      const items = [{ sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n', quantity: 2 }];
      const packed = { ...shipped, tracking: { ...tracking, items } };
      expect(toEvent(type.make({ order: packed }, options))?.data).toEqual({
        order_id,
        ...tracking,
        items,
      });
    },
  );

  it('is covered by these tests for all twelve events', () => {
    expect(new Set(expected.map(([message]) => message.type))).toEqual(new Set(webhookEvents));
  });

  it('has a body of less than two kilobytes without metadata', () => {
    for (const [message] of expected) {
      const content = toEvent(message);
      if (content === undefined) throw new Error('no content');
      const body = renderBody({ id: message.id, occurredAt: message.occurred_at, ...content }, '2026-11-01');
      expect(body.length).toBeLessThan(2_048);
    }
  });

  it('is rejected when a shipped order has no tracking', () => {
    expect(() => toEvent(messages.orderShipped.make({ order }, options))).toThrow(IncompleteMessage);
  });

  it('is undefined for other messages', () => {
    expect(
      toEvent({ ...messages.orderCreated.make({ order }, options), type: 'creator.changed' }),
    ).toBeUndefined();
  });
});
