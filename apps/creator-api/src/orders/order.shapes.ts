import { currencies, dispatchStatuses, idShape, maxAmount, paymentStatuses } from '@fulfilment/contracts';
import { z } from 'zod';

const amount = (meaning: string) =>
  z.int().min(0).max(maxAmount).describe(`${meaning}, in minor units of the order's currency`);

/** The members that list and detail share. */
const sharedMembers = {
  uuid: z.uuid().describe('The order'),
  human_order_id: idShape('ord', 'The id of the order in the Store API, also shown to people'),
  placed_at: z.iso.datetime().describe('When the order was placed'),
  currency: z.enum(currencies).describe('Currency of all amounts of the order, ISO 4217'),
  payment_status: z.enum(paymentStatuses).describe('Status of the payment'),
  dispatch_status: z.enum(dispatchStatuses).describe('Status of the shipment'),
  tracking_code: z
    .string()
    .describe('Tracking number of the newest package; empty until a package is shipped'),
  app: z
    .string()
    .nullable()
    .describe('`client_id` of the app that placed the order; null if it is not known'),
};
const sharedExample = {
  uuid: '019a7f2e-a1b2-7c3d-8e4f-506172839405',
  human_order_id: 'ord_01k9zjx8dje1yrwkt0c5rr7502',
  placed_at: '2026-11-20T10:15:30.000Z',
  currency: 'GBP' as const,
  payment_status: 'paid' as const,
  dispatch_status: 'dispatched' as const,
  tracking_code: 'RM123456789GB',
  app: 'app_reader',
};

export const orderSummaryExample = {
  ...sharedExample,
  totals: { gross: 4998, royalty: 625 },
  items_count: 2,
};

export const orderSummaryShape = z
  .object({
    ...sharedMembers,
    totals: z
      .object({
        gross: amount('Sum of the lines, including VAT and excluding shipping'),
        royalty: amount("The creator's royalties, summed over all lines"),
      })
      .describe('Totals of the order'),
    items_count: z.int().min(0).describe('Number of pieces, summed over all lines'),
  })
  .meta({
    id: 'OrderSummary',
    description: 'An order as returned in lists.',
    examples: [orderSummaryExample],
  });
export type OrderSummary = z.infer<typeof orderSummaryShape>;

const itemExample = {
  uuid: '019a7f2e-a1b3-7001-9a2b-3c4d5e6f7081',
  release_group: '019a7f2e-0c11-7d22-8e33-4f5566778899',
  release_title: 'Quiet Machinery',
  ean: '5060123450017',
  status: 'dispatched' as const,
  quantity: 2,
  unit_amount: 2499,
  total_amount: 4998,
  vat_amount: 833,
  royalty_amount: 625,
  royalty_rate: 1500,
  product_type: 'vinyl_12_lp',
};

const orderItemShape = z
  .object({
    uuid: z.uuid().describe('The id of the line'),
    release_group: z.uuid().describe('The release of the product'),
    release_title: z.string().describe("The release's title when the order was placed"),
    ean: z.string().describe('EAN of the product; empty if it has none'),
    status: z.enum(dispatchStatuses).describe("The order's `dispatch_status`"),
    quantity: z.int().min(1).describe('Number of pieces'),
    unit_amount: amount('Price that the merchant charged for one piece, including VAT'),
    total_amount: amount('`unit_amount` times `quantity`'),
    vat_amount: amount(
      'VAT included in `total_amount`, at the standard rate of the destination, rounded half to even; 0 where no rate is known',
    ),
    royalty_amount: amount(
      'Royalty: `royalty_rate` of `total_amount` minus `vat_amount`, rounded half to even',
    ),
    royalty_rate: z.int().min(0).max(10_000).describe('Royalty rate in basis points: 1500 is 15 %'),
    product_type: z.string().describe('Type of the product, such as `vinyl_12_lp`'),
  })
  .meta({ id: 'OrderItem', description: 'A line of an order.', examples: [itemExample] });

export const orderDetailShape = z
  .object({
    ...sharedMembers,
    totals: z
      .object({ royalty: amount("The creator's royalties, summed over all lines") })
      .describe('Totals of the order'),
    items: z.array(orderItemShape).describe('The lines of the order'),
  })
  .meta({
    id: 'Order',
    description: 'An order with its lines, VAT and royalties.',
    examples: [{ ...sharedExample, totals: { royalty: 625 }, items: [itemExample] }],
  });
export type OrderDetail = z.infer<typeof orderDetailShape>;
