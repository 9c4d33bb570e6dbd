import { z } from 'zod';
import { currencies, maxAmount } from '../money.js';
import { instant, lines, oneLine } from './fields.js';
import { defineMessage } from './message.js';

const text = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(...oneLine);
const name = z
  .string()
  .min(1)
  .max(255)
  .regex(...oneLine);
const orderId = name.describe("The Store API's order id, `ord_…`");
const sku = name.describe("The Store API's product id, `prod_…`");
const trackingUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine((url) => oneLine[0].test(url), oneLine[1]);

const packageTracking = {
  carrier: text,
  tracking_number: text,
  tracking_url: trackingUrl,
};

const price = z.record(z.enum(currencies), z.int().min(1).max(maxAmount));

/** Facts that the pressing plant, the warehouse and the operator report. */
export const fulfilmentMessages = {
  fulfilmentShipped: defineMessage(
    'fulfilment.shipped',
    1,
    'A package of an order was handed to the carrier.',
    z.object({ order_id: orderId, ...packageTracking, shipped_at: instant.optional() }),
  ),
  fulfilmentTrackingCorrected: defineMessage(
    'fulfilment.tracking_corrected',
    1,
    'The tracking of a package was wrong; the newest package is meant unless `replaces_tracking_number` names another.',
    z.object({ order_id: orderId, ...packageTracking, replaces_tracking_number: text.optional() }),
  ),
  fulfilmentDelivered: defineMessage(
    'fulfilment.delivered',
    1,
    'An order arrived; one package of it when `tracking_number` is given.',
    z.object({
      order_id: orderId,
      tracking_number: text.optional(),
      delivered_at: instant.optional(),
    }),
  ),
  fulfilmentCancelled: defineMessage(
    'fulfilment.cancelled',
    1,
    'An order will not be made.',
    z.object({
      order_id: orderId,
      reason: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .regex(...lines),
    }),
  ),
  fulfilmentStockSet: defineMessage(
    'fulfilment.stock_set',
    1,
    'The pieces of a limited edition that were left to sell at `occurred_at`, without those of orders that were placed before. Orders placed ' +
      'since are subtracted. Makes the product a limited edition if it is none. Report changes by `fulfilment.stock_adjusted`.',
    z.object({ sku, quantity: z.int().min(0).max(1_000_000_000) }),
  ),
  fulfilmentStockAdjusted: defineMessage(
    'fulfilment.stock_adjusted',
    1,
    'The pieces of a limited edition changed by `delta` at `occurred_at`, by something else than orders: more were pressed, some broke. Applied ' +
      'once for each message id. A count of a later time already includes it.',
    z.object({
      sku,
      delta: z
        .int()
        .min(-1_000_000_000)
        .max(1_000_000_000)
        .refine((delta) => delta !== 0, 'must not be 0'),
    }),
  ),
  fulfilmentProductReleased: defineMessage(
    'fulfilment.product_released',
    1,
    'A product may be sold.',
    z.object({ sku }),
  ),
  fulfilmentProductWithdrawn: defineMessage(
    'fulfilment.product_withdrawn',
    1,
    'A product may no longer be sold.',
    z.object({ sku }),
  ),
  catalogueReleaseApproved: defineMessage(
    'catalogue.release_approved',
    1,
    "The operator priced and published a pending release. Without `prices` the product type's list prices hold.",
    z.object({
      release_id: name.describe("The release's `prod_…` id or its UUID"),
      prices: price.optional(),
      product_type: text.optional(),
    }),
  ),
} as const;
