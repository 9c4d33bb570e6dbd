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
  status: z.enum(orderStatuses).describe('Where it stood when this happened'),
};
const total = { total: moneyShape.describe('What the merchant charged') };
const reason = { reason: z.string().describe('Why, in words') };
const product = {
  product_id: idShape('prod', 'The product'),
  release_id: idShape('prod', 'Its release'),
};
const updated = {
  updated_at: z.iso.datetime().describe('Events may come out of order: keep the newest of these for each id'),
};
const quantity = { quantity: z.int().min(0).nullable().describe('Pieces left') };
const productStatus = { status: z.enum(catalogueStatuses).describe('Its status') };

/** Data of both tracking events: exactly these five members (docs/reference/store.openapi.json). */
const tracking = z.object({
  order_id: order.order_id,
  carrier: z.string().describe('Who carries the package'),
  tracking_number: z.string().describe("The carrier's number of it"),
  tracking_url: z.string().describe('Where the carrier tells where it is'),
  ...updated,
});

/** Data of each event: identifiers, state and routing data. Never a name, an address or an e-mail. */
export const eventDataShapes = {
  'order.created': z.object({
    ...order,
    source: z
      .object({
        platform: z.string().describe('The shop system'),
        store_id: z.string().describe('The shop'),
        external_order_id: z.string().describe("The shop's own number of the order"),
      })
      .describe('Where it came from'),
    ...total,
    item_count: z.int().min(1).describe('Pieces, over all lines'),
    ...updated,
  }),
  'order.processing': z.object({ ...order, ...updated }),
  'order.shipped': tracking,
  'order.tracking_updated': tracking,
  'order.delivered': z.object({
    ...order,
    delivered_at: z.iso.datetime().describe('When the last package arrived'),
    ...updated,
  }),
  'order.cancelled': z.object({ ...order, ...reason, ...updated }),
  'order.payment_failed': z.object({ ...order, ...total, ...reason, ...updated }),
  'product.available': z.object({ ...product, ...productStatus, ...updated }),
  'product.unavailable': z.object({ ...product, ...productStatus, ...updated }),
  'product.inventory_changed': z.object({
    ...product,
    ...quantity,
    previous_quantity: z
      .int()
      .min(0)
      .nullable()
      .describe('Pieces there were before; null when it was no limited edition, and had no limit'),
    ...updated,
  }),
  'product.in_stock': z.object({ ...product, ...quantity, ...updated }),
  'product.out_of_stock': z.object({ ...product, ...quantity, ...updated }),
} as const satisfies Record<WebhookEvent, z.ZodObject>;

export type EventData<Event extends WebhookEvent> = z.infer<(typeof eventDataShapes)[Event]>;
