import {
  type Message,
  messages,
  type OrderSnapshot,
  type ProductSnapshot,
  type WebhookEvent,
} from '@fulfilment/contracts';
import { eventContent } from './event-data.rules.js';

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

const samples: Record<WebhookEvent, (at: string, occurredAt: Date) => Message> = {
  'order.created': (at, occurredAt) =>
    messages.orderCreated.make({ order: sampleOrder(at, 'pending') }, { occurredAt }),
  'order.processing': (at, occurredAt) =>
    messages.orderProcessing.make({ order: sampleOrder(at, 'processing') }, { occurredAt }),
  'order.shipped': (at, occurredAt) =>
    messages.orderShipped.make({ order: sampleOrder(at, 'shipped') }, { occurredAt }),
  'order.tracking_updated': (at, occurredAt) =>
    messages.orderTrackingUpdated.make({ order: sampleOrder(at, 'shipped') }, { occurredAt }),
  'order.delivered': (at, occurredAt) =>
    messages.orderDelivered.make({ order: sampleOrder(at, 'delivered') }, { occurredAt }),
  'order.cancelled': (at, occurredAt) =>
    messages.orderCancelled.make({ order: sampleOrder(at, 'cancelled'), reason: 'test' }, { occurredAt }),
  'order.payment_failed': (at, occurredAt) =>
    messages.orderPaymentFailed.make(
      { order: sampleOrder(at, 'payment_failed'), reason: 'test' },
      { occurredAt },
    ),
  'product.available': (at, occurredAt) =>
    messages.productAvailable.make({ product: sampleProduct(at, 'available', 10) }, { occurredAt }),
  'product.unavailable': (at, occurredAt) =>
    messages.productUnavailable.make({ product: sampleProduct(at, 'unavailable', 10) }, { occurredAt }),
  'product.inventory_changed': (at, occurredAt) =>
    messages.productInventoryChanged.make(
      { product: sampleProduct(at, 'available', 9), previous_quantity: 10 },
      { occurredAt },
    ),
  'product.in_stock': (at, occurredAt) =>
    messages.productInStock.make({ product: sampleProduct(at, 'available', 10) }, { occurredAt }),
  'product.out_of_stock': (at, occurredAt) =>
    messages.productOutOfStock.make({ product: sampleProduct(at, 'available', 0) }, { occurredAt }),
};

/**
 * Returns sample data of an event, rendered by the code for real events, with ids marked as test ids
 * (`ord_test_…`).
 */
export function sampleData(event: WebhookEvent, occurredAt: Date): Readonly<Record<string, unknown>> {
  const data = eventContent(samples[event](occurredAt.toISOString(), occurredAt))?.data ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      name.endsWith('_id') && typeof value === 'string' ? value.replace('_', '_test_') : value,
    ]),
  );
}
