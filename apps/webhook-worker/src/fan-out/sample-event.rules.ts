import {
  type Message,
  messages,
  type OrderSnapshot,
  type ProductSnapshot,
  type WebhookEvent,
} from '@fulfilment/contracts';
import { eventContent } from './event-data.rules.js';

interface SampleTime {
  readonly occurredAt: Date;
}

const sampleId = '00000000-0000-7000-8000-000000000001';

function sampleOrder({ occurredAt }: SampleTime, status: OrderSnapshot['status']): OrderSnapshot {
  const at = occurredAt.toISOString();
  return {
    id: sampleId,
    version: 1,
    creator_id: sampleId,
    status,
    source: { platform: 'test', store_id: 'test-store', external_order_id: 'test-order' },
    placed_at: at,
    updated_at: at,
    currency: 'GBP',
    country_code: 'GB',
    total_amount: 2849,
    shipping_amount: 350,
    item_count: 1,
    payment: { method: 'card', status: 'paid', charged_at: at, refunded_at: null },
    tracking: {
      carrier: 'Royal Mail',
      tracking_number: 'TEST123456789GB',
      tracking_url: 'https://tracking.example/TEST123456789GB',
      updated_at: at,
    },
    delivered_at: at,
    items: [
      {
        id: sampleId,
        product_id: sampleId,
        release_id: sampleId,
        release_title: 'Test release',
        product_type: 'vinyl_12_lp',
        ean: null,
        quantity: 1,
        unit_amount: 2499,
        royalty_rate: 0,
      },
    ],
  };
}

function sampleProduct(
  { occurredAt }: SampleTime,
  status: ProductSnapshot['status'],
  quantity: number,
): ProductSnapshot {
  return {
    id: sampleId,
    version: 1,
    release_id: sampleId,
    creator_id: sampleId,
    title: 'Test product',
    product_type: 'vinyl_12_lp',
    ean: null,
    status,
    limited_edition: true,
    quantity,
    updated_at: occurredAt.toISOString(),
  };
}

const samples: Record<WebhookEvent, (time: SampleTime) => Message> = {
  'order.created': (time) => messages.orderCreated.make({ order: sampleOrder(time, 'pending') }, time),
  'order.processing': (time) =>
    messages.orderProcessing.make({ order: sampleOrder(time, 'processing') }, time),
  'order.shipped': (time) => messages.orderShipped.make({ order: sampleOrder(time, 'shipped') }, time),
  'order.tracking_updated': (time) =>
    messages.orderTrackingUpdated.make({ order: sampleOrder(time, 'shipped') }, time),
  'order.delivered': (time) => messages.orderDelivered.make({ order: sampleOrder(time, 'delivered') }, time),
  'order.cancelled': (time) =>
    messages.orderCancelled.make({ order: sampleOrder(time, 'cancelled'), reason: 'test' }, time),
  'order.payment_failed': (time) =>
    messages.orderPaymentFailed.make({ order: sampleOrder(time, 'payment_failed'), reason: 'test' }, time),
  'product.available': (time) =>
    messages.productAvailable.make({ product: sampleProduct(time, 'available', 10) }, time),
  'product.unavailable': (time) =>
    messages.productUnavailable.make({ product: sampleProduct(time, 'unavailable', 10) }, time),
  'product.inventory_changed': (time) =>
    messages.productInventoryChanged.make(
      { product: sampleProduct(time, 'available', 9), previous_quantity: 10 },
      time,
    ),
  'product.in_stock': (time) =>
    messages.productInStock.make({ product: sampleProduct(time, 'available', 10) }, time),
  'product.out_of_stock': (time) =>
    messages.productOutOfStock.make({ product: sampleProduct(time, 'available', 0) }, time),
};

/**
 * Returns sample data of an event, rendered by the code for real events, with ids marked as test ids
 * (`ord_test_…`).
 */
export function sampleData(event: WebhookEvent, occurredAt: Date): Readonly<Record<string, unknown>> {
  const data = eventContent(samples[event]({ occurredAt }))?.data ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      name.endsWith('_id') && typeof value === 'string' ? value.replace('_', '_test_') : value,
    ]),
  );
}
