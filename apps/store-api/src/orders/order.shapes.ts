import { idShape, moneyShape, orderStatuses, paymentMethods, paymentStatuses } from '@fulfilment/contracts';
import { z } from 'zod';

const orderId = 'ord_01m7xwmx1ceqrv87vt909ma64h';

const summaryMembers = {
  id: idShape('ord', 'The id of the order'),
  status: z
    .enum(orderStatuses)
    .describe(
      'Current status: `pending` until the outcome of the payment is known, then `processing` or `payment_failed`; `shipped` after the first package is shipped, and `delivered` after all packages have arrived; `cancelled` if it was cancelled before it was shipped. A status never goes back',
    ),
  total: moneyShape.describe(
    'What the merchant charged: the sum of quantity times unit price of all lines, plus shipping',
  ),
  item_count: z.int().min(1).describe('Number of pieces, summed over all lines'),
  created_at: z.iso.datetime().describe('When the order was placed'),
  updated_at: z.iso.datetime().describe('When the order last changed'),
  livemode: z
    .literal(false)
    .optional()
    .describe('`false` for a test order: no money moves, and nothing is produced. Absent for live orders'),
};
export const orderSummaryExample = {
  id: orderId,
  status: 'processing' as const,
  total: { amount: 6283, currency: 'GBP' as const },
  item_count: 2,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.412Z',
};

export const orderSummaryShape = z.object(summaryMembers).meta({
  id: 'OrderSummary',
  description: 'An order as returned in lists.',
  examples: [orderSummaryExample],
});
export type OrderSummary = z.infer<typeof orderSummaryShape>;

const packedItemShape = z
  .object({
    sku: idShape('prod', 'The product'),
    quantity: z.int().min(1).describe('Number of pieces in the package'),
  })
  .meta({
    id: 'PackedItem',
    description: 'Pieces of a product in a package.',
    examples: [{ sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n', quantity: 2 }],
  });

const packageMembers = {
  carrier: z.string().describe('The carrier of the package'),
  tracking_number: z.string().describe('Tracking number of the carrier'),
  tracking_url: z.string().describe("URL of the carrier's tracking page"),
  shipped_at: z.iso.datetime().describe('When the package was handed to the carrier'),
  delivered_at: z.iso.datetime().nullable().describe('When the package was delivered; null until then'),
  items: z
    .array(packedItemShape)
    .optional()
    .describe('What the package contains; absent if the warehouse did not report it'),
};
const packageExample = {
  carrier: 'Royal Mail',
  tracking_number: 'RM123456785GB',
  tracking_url: 'https://track.example/RM123456785GB',
  shipped_at: '2026-11-21T09:30:00.000Z',
  delivered_at: null,
  items: [{ sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n', quantity: 2 }],
};
const packageShape = z
  .object(packageMembers)
  .meta({ id: 'Package', description: 'A shipped package.', examples: [packageExample] });

export const trackingExample = {
  ...packageExample,
  updated_at: '2026-11-21T09:30:00.000Z',
  packages: [packageExample],
};
const trackingShape = z
  .object({
    ...packageMembers,
    updated_at: z.iso
      .datetime()
      .describe(
        'When the carrier, number or URL of a package last changed. An order stays `delivered` when another package is shipped later; from then on, each change of its packages counts, such as the delivery of that package',
      ),
    packages: z.array(packageShape).min(1).describe('All packages, oldest first'),
  })
  .meta({
    id: 'Tracking',
    description: 'Tracking of the newest package, and all packages.',
    examples: [trackingExample],
  });
export type TrackingView = z.infer<typeof trackingShape>;

const addressExample = {
  full_name: 'Aiko Mori',
  address_line_1: '1 Quay Street',
  city: 'London',
  postal_code: 'N1 1AA',
  country_code: 'GB',
};
const addressShape = z
  .object({
    full_name: z.string().describe('Name of the recipient'),
    company: z.string().optional().describe('Company of the recipient'),
    address_line_1: z.string().describe('Street and number'),
    address_line_2: z.string().optional().describe('Second address line'),
    city: z.string().optional().describe('City or town'),
    postal_code: z.string().optional().describe('Postal code'),
    province_code: z.string().optional().describe('State, province or prefecture'),
    country_code: z.string().length(2).describe('ISO 3166-1 alpha-2, in upper case'),
  })
  .meta({
    id: 'Address',
    description:
      'Shipping address of an order, as sent. After redaction, every non-empty text except `country_code` is `redacted`.',
    examples: [addressExample],
  });
export type AddressView = z.infer<typeof addressShape>;

const sourceExample = { platform: 'shopify', store_id: 'harbour-lights', external_order_id: '#1042' };
const sourceShape = z
  .object({
    platform: z.string().describe('The shop platform; `api` if not sent'),
    store_id: z.string().describe('The shop; the client id if not sent'),
    external_order_id: z.string().describe('Order number in the shop; the id of the order if not sent'),
  })
  .meta({
    id: 'OrderSource',
    description: 'The shop in which an order was placed.',
    examples: [sourceExample],
  });

const lineExample = {
  sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n',
  title: 'Quiet Machinery (12" LP)',
  quantity: 2,
  unit_price: { amount: 2999, currency: 'GBP' as const },
};
const lineShape = z
  .object({
    sku: idShape('prod', 'The product'),
    title: z.string().describe('Title of the product when the order was placed'),
    quantity: z.int().min(1).max(1000).describe('Number of pieces'),
    unit_price: moneyShape.describe('Price that the merchant charged for one piece, as sent'),
  })
  .meta({
    id: 'OrderLine',
    description: 'A line of an order.',
    examples: [lineExample],
  });

const billingExample = {
  method: 'card' as const,
  payment_status: 'paid' as const,
  charged_at: '2026-11-20T12:00:00.401Z',
  amount: { amount: 5283, currency: 'GBP' as const },
};
const billingShape = z
  .object({
    method: z.enum(paymentMethods).describe('Payment method of the creator'),
    payment_status: z.enum(paymentStatuses).describe('Status of the payment'),
    charged_at: z.iso.datetime().nullable().describe('When the creator was charged; null if not charged'),
    amount: moneyShape.describe('Amount that the creator is charged: catalogue prices plus shipping'),
  })
  .meta({
    id: 'OrderBilling',
    description: 'How the creator is charged for an order.',
    examples: [billingExample],
  });

export const orderExample = {
  ...orderSummaryExample,
  source: sourceExample,
  line_items: [lineExample],
  shipping_address: addressExample,
  billing: billingExample,
  shipping: {
    rate_id: 'rate_8KdEfAGQAAAAAHAAgAAAAAAAAAxHQkdCUAAAAAAAAAEdAAAD6GsBh8AQPlX6BGFalH2dE0OmbY3G',
    amount: { amount: 285, currency: 'GBP' as const },
  },
  tracking: null,
  metadata: { cart: 'c_8841', campaign: 'autumn' },
};

export const orderShape = z
  .object({
    ...summaryMembers,
    source: sourceShape,
    line_items: z.array(lineShape).min(1).max(100).describe('Lines of the order'),
    shipping_address: addressShape,
    billing: billingShape,
    shipping: z
      .object({
        rate_id: idShape('rate', 'The quoted shipping rate'),
        amount: moneyShape.describe('Price of the shipping'),
      })
      .describe('Shipping of the order'),
    tracking: trackingShape
      .nullable()
      .describe('Tracking of the order; null until the first package is shipped'),
    metadata: z
      .record(z.string(), z.string())
      .describe('Keys and values as sent; empty if none were sent, or after the address was redacted'),
  })
  .meta({
    id: 'Order',
    description: 'An order with all details.',
    examples: [orderExample],
  });
export type OrderView = z.infer<typeof orderShape>;

/** The response to a request to place an order, and to its repetitions. */
export const placedOrderShape = z
  .object({
    id: idShape('ord', 'The order'),
    status: z
      .enum(orderStatuses)
      .describe(
        '`processing` if paid, `payment_failed` if the payment was declined, `pending` if the outcome is not known yet; an event reports it later. `cancelled` if the order was cancelled before the outcome was known',
      ),
  })
  .meta({
    id: 'PlacedOrder',
    description: 'The order that was placed.',
    examples: [{ id: orderId, status: 'processing' }],
  });
