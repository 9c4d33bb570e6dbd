import {
  catalogueStatuses,
  idShape,
  moneyShape,
  orderStatuses,
  type WebhookEvent,
} from '@fulfilment/contracts';
import { z } from 'zod';

const order = {
  order_id: idShape('ord', 'The order'),
  status: z.enum(orderStatuses).describe('Status of the order when the event happened'),
};
const total = { total: moneyShape.describe('What the merchant charged') };
const reason = { reason: z.string().describe('Human-readable reason') };
const product = {
  product_id: idShape('prod', 'The product'),
  release_id: idShape('prod', 'The release of the product'),
};
const updated = {
  updated_at: z.iso
    .datetime()
    .describe(
      'When the order or product changed. Events may arrive out of order: of the events about one id, the one with the latest `updated_at` has the newest state',
    ),
};
const quantity = { quantity: z.int().min(0).nullable().describe('Pieces left') };
const productStatus = { status: z.enum(catalogueStatuses).describe('Status of the product') };

/** Optional members of every event of an order. */
const orderOptions = {
  livemode: z.literal(false).optional().describe('`false` for a test order; absent for a live one'),
  metadata: z
    .record(z.string(), z.string())
    .optional()
    .describe('`metadata` of the order; absent if it has none'),
};

/** Data of `order.shipped` and `order.tracking_updated`. */
const tracking = z.object({
  order_id: order.order_id,
  carrier: z.string().describe('The carrier of the package'),
  tracking_number: z.string().describe('Tracking number of the carrier'),
  tracking_url: z.string().describe("URL of the carrier's tracking page"),
  ...updated,
  items: z
    .array(
      z.object({
        sku: idShape('prod', 'The product'),
        quantity: z.int().min(1).describe('Number of pieces in the package'),
      }),
    )
    .optional()
    .describe('What the package contains; absent if the warehouse did not report it'),
  ...orderOptions,
});

/**
 * Data of each event: identifiers, state and routing data. Never a name, an address or an e-mail, except what
 * the client sent as `metadata`.
 */
export const eventDataShapes = {
  'order.created': z.object({
    ...order,
    source: z
      .object({
        platform: z.string().describe('The shop platform'),
        store_id: z.string().describe('The shop'),
        external_order_id: z.string().describe('Order number in the shop'),
      })
      .describe('The shop in which the order was placed'),
    ...total,
    item_count: z.int().min(1).describe('Number of pieces, summed over all lines'),
    ...updated,
    ...orderOptions,
  }),
  'order.processing': z.object({ ...order, ...updated, ...orderOptions }),
  'order.shipped': tracking,
  'order.tracking_updated': tracking,
  'order.delivered': z.object({
    ...order,
    delivered_at: z.iso.datetime().describe('When the last package was delivered'),
    ...updated,
    ...orderOptions,
  }),
  'order.cancelled': z.object({ ...order, ...reason, ...updated, ...orderOptions }),
  'order.payment_failed': z.object({ ...order, ...total, ...reason, ...updated, ...orderOptions }),
  'product.available': z.object({ ...product, ...productStatus, ...updated }),
  'product.unavailable': z.object({ ...product, ...productStatus, ...updated }),
  'product.inventory_changed': z.object({
    ...product,
    ...quantity,
    previous_quantity: z
      .int()
      .min(0)
      .nullable()
      .describe('Pieces left before the change; null if the product was not a limited edition'),
    ...updated,
  }),
  'product.in_stock': z.object({ ...product, ...quantity, ...updated }),
  'product.out_of_stock': z.object({ ...product, ...quantity, ...updated }),
} as const satisfies Record<WebhookEvent, z.ZodObject>;

export type EventData<Event extends WebhookEvent> = z.infer<(typeof eventDataShapes)[Event]>;
