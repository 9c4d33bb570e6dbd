import { z } from 'zod';
import { uuid } from '../ids.js';
import { currencies, maxAmount } from '../money.js';
import { orderStatuses, paymentMethods, paymentStatuses } from '../states.js';
import { defineMessage } from './message.js';

const amount = z.int().min(0).max(maxAmount);

/** Tracking of the newest package. */
const orderTracking = z.object({
  carrier: z.string(),
  tracking_number: z.string(),
  tracking_url: z.string(),
  /**
   * When the tracking of a package last changed. A delivered order also counts other changes of its packages,
   * such as the arrival of another one.
   */
  updated_at: z.iso.datetime(),
  items: z
    .array(z.object({ sku: z.string(), quantity: z.int().min(1) }))
    .optional()
    .describe('What the package contains; absent if the warehouse did not report it'),
});

/**
 * A whole order at the time of the message; `version` only increases, so a consumer that keeps the newest
 * version may receive messages in any order. It has no name, address or e-mail, except in the client's
 * `metadata`.
 */
export const orderSnapshot = z.object({
  id: uuid,
  version: z.int().min(1),
  creator_id: uuid,
  client_id: z
    .string()
    .optional()
    .describe('The OAuth client that placed the order; absent in messages of earlier versions of store-api'),
  status: z.enum(orderStatuses),
  source: z.object({ platform: z.string(), store_id: z.string(), external_order_id: z.string() }),
  placed_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  currency: z.enum(currencies),
  country_code: z.string().length(2),
  total_amount: amount,
  shipping_amount: amount,
  item_count: z.int().min(1).describe('Number of pieces, summed over all lines'),
  payment: z.object({
    method: z.enum(paymentMethods),
    status: z.enum(paymentStatuses),
    /** Null unless the status is `paid` or `refunded`. */
    charged_at: z.iso.datetime().nullable(),
    /** Null unless the status is `refunded`. */
    refunded_at: z.iso.datetime().nullable(),
  }),
  tracking: orderTracking.nullable(),
  delivered_at: z.iso.datetime().nullable(),
  test: z.boolean().optional().describe('True for an order of a test creator, which must not be produced'),
  /** Keys and values of the client; absent if there are none. */
  metadata: z.record(z.string(), z.string()).optional(),
  items: z
    .array(
      z.object({
        id: uuid,
        product_id: uuid,
        release_id: uuid,
        release_title: z.string(),
        product_type: z.string(),
        ean: z.string().nullable(),
        quantity: z.int().min(1),
        unit_amount: amount,
        /** Basis points: 1500 is 15 %. */
        royalty_rate: z.int().min(0).max(10_000),
      }),
    )
    .min(1),
});
export type OrderSnapshot = z.infer<typeof orderSnapshot>;

const orderData = z.object({ order: orderSnapshot });
const orderDataWithReason = z.object({ order: orderSnapshot, reason: z.string().max(500) });
const cancelledData = orderDataWithReason.extend({
  cancelled_by: z
    .enum(['merchant', 'operator', 'warehouse'])
    .optional()
    .describe(
      'Who requested the cancellation: the merchant through the Store API, an operator, or the warehouse',
    ),
});

export const orderMessages = {
  orderCreated: defineMessage('order.created', 'An order was placed.', orderData),
  orderProcessing: defineMessage('order.processing', 'An order was paid and entered fulfilment.', orderData),
  orderPaymentFailed: defineMessage(
    'order.payment_failed',
    'The charge for an order failed.',
    orderDataWithReason,
  ),
  orderShipped: defineMessage(
    'order.shipped',
    'The first package of an order was handed to the carrier.',
    orderData,
  ),
  orderTrackingUpdated: defineMessage(
    'order.tracking_updated',
    'Tracking was added or corrected.',
    orderData,
  ),
  orderDelivered: defineMessage('order.delivered', 'All packages of an order were delivered.', orderData),
  orderCancelled: defineMessage(
    'order.cancelled',
    'An order was cancelled: the warehouse must not produce or ship it.',
    cancelledData,
  ),
} as const;
