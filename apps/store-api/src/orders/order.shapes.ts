import { idShape, moneyShape, orderStatuses, paymentMethods, paymentStatuses } from '@fulfilment/contracts';
import { z } from 'zod';

const orderId = 'ord_01m7xwmx1ceqrv87vt909ma64h';

const summaryMembers = {
  id: idShape('ord', 'The order'),
  status: z
    .enum(orderStatuses)
    .describe(
      'Where it stands. `pending` until the payment is known, then `processing` or `payment_failed`; `shipped` with the first package; never backwards',
    ),
  total: moneyShape.describe(
    'What the merchant charged: quantity times unit price of every line, and the shipping',
  ),
  item_count: z.int().min(1).describe('Pieces, over all lines'),
  created_at: z.iso.datetime().describe('When it was placed'),
  updated_at: z.iso.datetime().describe('When anything about it last changed'),
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
  description: 'An order as lists show it.',
  examples: [orderSummaryExample],
});
export type OrderSummary = z.infer<typeof orderSummaryShape>;

const packageMembers = {
  carrier: z.string().describe('Who carries it'),
  tracking_number: z.string().describe("The carrier's number of it"),
  tracking_url: z.string().describe('Where the carrier tells where it is'),
  shipped_at: z.iso.datetime().describe('When it was handed over'),
  delivered_at: z.iso.datetime().nullable().describe('When it arrived; null until it has'),
};
const packageExample = {
  carrier: 'Royal Mail',
  tracking_number: 'RM123456785GB',
  tracking_url: 'https://track.example/RM123456785GB',
  shipped_at: '2026-11-21T09:30:00.000Z',
  delivered_at: null,
};
const packageShape = z
  .object(packageMembers)
  .meta({ id: 'Package', description: 'A package on its way.', examples: [packageExample] });

const trackingShape = z
  .object({
    ...packageMembers,
    updated_at: z.iso.datetime().describe('When tracking was last added or corrected'),
    packages: z.array(packageShape).min(1).describe('Every package, the oldest first'),
  })
  .meta({
    id: 'Tracking',
    description: 'Where the newest package is, and all packages.',
    examples: [{ ...packageExample, updated_at: '2026-11-21T09:30:00.000Z', packages: [packageExample] }],
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
    full_name: z.string().describe('Who receives it'),
    company: z.string().optional().describe('Their company'),
    address_line_1: z.string().describe('Street and number'),
    address_line_2: z.string().optional().describe('What does not fit into the first line'),
    city: z.string().optional().describe('City or town'),
    postal_code: z.string().optional().describe('Postal code'),
    province_code: z.string().optional().describe('State, province or prefecture'),
    country_code: z.string().length(2).describe('ISO 3166-1 alpha-2, in upper case'),
  })
  .meta({
    id: 'Address',
    description: 'Where an order goes, as it was sent.',
    examples: [addressExample],
  });
export type AddressView = z.infer<typeof addressShape>;

const sourceExample = { platform: 'shopify', store_id: 'harbour-lights', external_order_id: '#1042' };
const sourceShape = z
  .object({
    platform: z.string().describe('The shop system; `api` when none was sent'),
    store_id: z.string().describe("The shop; the client's id when none was sent"),
    external_order_id: z
      .string()
      .describe("The shop's own number of the order; the order's id when none was sent"),
  })
  .meta({
    id: 'OrderSource',
    description: 'Where an order came from.',
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
    title: z.string().describe('Its title when the order was placed'),
    quantity: z.int().min(1).max(1000).describe('Pieces'),
    unit_price: moneyShape.describe('What the merchant charged for one, as it was sent'),
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
    method: z.enum(paymentMethods).describe('How the creator pays'),
    payment_status: z.enum(paymentStatuses).describe('Where the payment stands'),
    charged_at: z.iso.datetime().nullable().describe('When the creator was charged; null until then'),
    amount: moneyShape.describe('What the creator is charged: catalogue prices and shipping'),
  })
  .meta({
    id: 'OrderBilling',
    description: 'How the creator pays for an order.',
    examples: [billingExample],
  });

export const orderShape = z
  .object({
    ...summaryMembers,
    source: sourceShape,
    line_items: z.array(lineShape).min(1).max(100).describe('What was ordered'),
    shipping_address: addressShape,
    billing: billingShape,
    shipping: z
      .object({
        rate_id: idShape('rate', 'The quoted rate'),
        amount: moneyShape.describe('What shipping costs'),
      })
      .describe('How it is sent'),
    tracking: trackingShape.nullable().describe('Where it is; null until the first package is handed over'),
  })
  .meta({
    id: 'Order',
    description: 'An order in full.',
    examples: [
      {
        ...orderSummaryExample,
        source: sourceExample,
        line_items: [lineExample],
        shipping_address: addressExample,
        billing: billingExample,
        shipping: { rate_id: 'rate_01m7xwmwt9fgvq2y3m6d0cze8s', amount: { amount: 285, currency: 'GBP' } },
        tracking: null,
      },
    ],
  });
export type OrderView = z.infer<typeof orderShape>;

/** The response to the first and to every repeated request. */
export const placedOrderShape = z
  .object({
    id: idShape('ord', 'The order'),
    status: z
      .enum(orderStatuses)
      .describe(
        '`processing` once paid, `payment_failed` when the payment was refused, `pending` when its outcome is not known yet: an event tells it',
      ),
  })
  .meta({
    id: 'PlacedOrder',
    description: 'The order that was placed.',
    examples: [{ id: orderId, status: 'processing' }],
  });
