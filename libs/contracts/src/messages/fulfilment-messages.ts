import { z } from 'zod';
import { currencies, maxAmount } from '../money.js';
import { instant, lines, oneLine } from './fields.js';
import { defineMessage } from './message.js';

const maxTextLength = 255;
/** Below the maximum of an integer column in PostgreSQL. */
const maxPieces = 1_000_000_000;

const trimmedText = z.string().trim().min(1).max(maxTextLength).regex(oneLine.pattern, oneLine.message);
/** Not trimmed: an id is looked up exactly as it was sent. */
const id = z.string().min(1).max(maxTextLength).regex(oneLine.pattern, oneLine.message);
const orderId = id.describe('Id of the order in the Store API, `ord_…`');
const sku = id.describe('Id of the product in the Store API, `prod_…`');
const trackingUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine((url) => oneLine.pattern.test(url), oneLine.message);

const packageTracking = { carrier: trimmedText, tracking_number: trimmedText, tracking_url: trackingUrl };

const packedItems = z
  .array(z.object({ sku, quantity: z.int().min(1).max(1000) }))
  .min(1)
  .max(100)
  .describe(
    'What the package contains. If every package names its items, the order is delivered when packages with all of its pieces have arrived',
  );

const prices = z.record(z.enum(currencies), z.int().min(1).max(maxAmount));

/** Messages that the pressing plant, the warehouse and the operator publish. */
export const fulfilmentMessages = {
  fulfilmentShipped: defineMessage(
    'fulfilment.shipped',
    'A package of an order was handed to the carrier.',
    z.object({
      order_id: orderId,
      ...packageTracking,
      shipped_at: instant.optional().describe('When the package was handed over; by default `occurred_at`'),
      items: packedItems.optional(),
    }),
  ),
  fulfilmentTrackingCorrected: defineMessage(
    'fulfilment.tracking_corrected',
    'The tracking of a package was corrected: the newest package, or the package with the number `replaces_tracking_number`.',
    z.object({ order_id: orderId, ...packageTracking, replaces_tracking_number: trimmedText.optional() }),
  ),
  fulfilmentDelivered: defineMessage(
    'fulfilment.delivered',
    'An order was delivered; with `tracking_number`, only that package of it.',
    z.object({
      order_id: orderId,
      tracking_number: trimmedText.optional(),
      delivered_at: instant.optional().describe('When it was delivered; by default `occurred_at`'),
    }),
  ),
  fulfilmentCancelled: defineMessage(
    'fulfilment.cancelled',
    'An order was cancelled and will not be produced.',
    z.object({
      order_id: orderId,
      reason: z.string().trim().min(1).max(500).regex(lines.pattern, lines.message),
    }),
  ),
  fulfilmentStockSet: defineMessage(
    'fulfilment.stock_set',
    'The number of pieces of a limited edition left to sell at `occurred_at`, excluding the pieces of orders placed before that time. The pieces of orders ' +
      'placed later are subtracted. The product becomes a limited edition if it is not one. Report changes by `fulfilment.stock_adjusted`.',
    z.object({ sku, quantity: z.int().min(0).max(maxPieces) }),
  ),
  fulfilmentStockAdjusted: defineMessage(
    'fulfilment.stock_adjusted',
    'The stock of a limited edition changed by `delta` at `occurred_at` for a reason other than orders, for example a repress or damage. Each message id is ' +
      'applied once. A `fulfilment.stock_set` of a later time already includes the change.',
    z.object({
      sku,
      delta: z
        .int()
        .min(-maxPieces)
        .max(maxPieces)
        .refine((delta) => delta !== 0, 'must not be 0'),
    }),
  ),
  fulfilmentProductReleased: defineMessage(
    'fulfilment.product_released',
    'A product was released for sale.',
    z.object({ sku }),
  ),
  fulfilmentProductWithdrawn: defineMessage(
    'fulfilment.product_withdrawn',
    'A product was withdrawn from sale.',
    z.object({ sku }),
  ),
  catalogueReleaseApproved: defineMessage(
    'catalogue.release_approved',
    'The operator priced and published a pending release. Without `prices` the list prices of the product type apply.',
    z.object({
      release_id: id.describe('The `prod_…` id of the release, or its UUID'),
      prices: prices.optional(),
      product_type: trimmedText.optional(),
    }),
  ),
} as const;
