import {
  type Message,
  messages,
  type OrderSnapshot,
  type ProductSnapshot,
  type WebhookEvent,
} from '@fulfilment/contracts';
import { toEvent } from './event-data.rules.js';

const sampleId = '00000000-0000-7000-8000-000000000001';

function sampleOrder(at: string, status: OrderSnapshot['status']): OrderSnapshot {
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

function sampleProduct(at: string, status: ProductSnapshot['status'], quantity: number): ProductSnapshot {
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
    updated_at: at,
  };
}

function samplesAt(occurredAt: Date): Record<WebhookEvent, () => Message> {
  const time = { occurredAt };
  const at = occurredAt.toISOString();
  const order = (status: OrderSnapshot['status']) => ({ order: sampleOrder(at, status), reason: 'test' });
  const product = (status: ProductSnapshot['status'], quantity: number) => ({
    product: sampleProduct(at, status, quantity),
    previous_quantity: 10,
  });
  return {
    'order.created': () => messages.orderCreated.make(order('pending'), time),
    'order.processing': () => messages.orderProcessing.make(order('processing'), time),
    'order.shipped': () => messages.orderShipped.make(order('shipped'), time),
    'order.tracking_updated': () => messages.orderTrackingUpdated.make(order('shipped'), time),
    'order.delivered': () => messages.orderDelivered.make(order('delivered'), time),
    'order.cancelled': () => messages.orderCancelled.make(order('cancelled'), time),
    'order.payment_failed': () => messages.orderPaymentFailed.make(order('payment_failed'), time),
    'product.available': () => messages.productAvailable.make(product('available', 10), time),
    'product.unavailable': () => messages.productUnavailable.make(product('unavailable', 10), time),
    'product.inventory_changed': () => messages.productInventoryChanged.make(product('available', 9), time),
    'product.in_stock': () => messages.productInStock.make(product('available', 10), time),
    'product.out_of_stock': () => messages.productOutOfStock.make(product('available', 0), time),
  };
}

/**
 * Returns sample data of an event, rendered by the code for real events, with ids marked as test ids
 * (`ord_test_…`).
 */
export function sampleData(event: WebhookEvent, occurredAt: Date): Readonly<Record<string, unknown>> {
  const data = toEvent(samplesAt(occurredAt)[event]())?.data ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      name.endsWith('_id') && typeof value === 'string' ? value.replace('_', '_test_') : value,
    ]),
  );
}
