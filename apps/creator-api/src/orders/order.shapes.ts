import { currencies, dispatchStatuses, idShape, maxAmount, paymentStatuses } from '@fulfilment/contracts';
import { z } from 'zod';

const amount = (what: string) =>
  z.int().min(0).max(maxAmount).describe(`${what}, in minor units of the order's currency`);

const head = {
  uuid: z.uuid().describe('The order'),
  human_order_id: idShape('ord', 'The order as the Store API and people name it'),
  placed_at: z.iso.datetime().describe('When it was placed'),
  currency: z.enum(currencies).describe('ISO 4217, of every amount of the order'),
  payment_status: z.enum(paymentStatuses).describe('What became of the payment'),
  dispatch_status: z.enum(dispatchStatuses).describe('How far the goods are'),
  tracking_code: z.string().describe('Of the newest package; empty while there is none'),
};
const headExample = {
  uuid: '019a7f2e-a1b2-7c3d-8e4f-506172839405',
  human_order_id: 'ord_01k9zjx8dje1yrwkt0c5rr7502',
  placed_at: '2026-11-20T10:15:30.000Z',
  currency: 'GBP' as const,
  payment_status: 'paid' as const,
  dispatch_status: 'dispatched' as const,
  tracking_code: 'RM123456789GB',
};

export const orderSummaryExample = { ...headExample, totals: { gross: 4998, royalty: 625 }, items_count: 2 };

export const orderSummaryShape = z
  .object({
    ...head,
    totals: z
      .object({
        gross: amount('Sum of the lines, with VAT and without shipping'),
        royalty: amount("The creator's royalties of all lines"),
      })
      .describe('What it comes to'),
    items_count: z.int().min(0).describe('Pieces'),
  })
  .meta({ id: 'OrderSummary', description: 'An order as lists show it.', examples: [orderSummaryExample] });
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
    uuid: z.uuid().describe('The line'),
    release_group: z.uuid().describe('The release it is of'),
    release_title: z.string().describe("The release's title when the order was placed"),
    ean: z.string().describe('EAN of the product; empty when it has none'),
    status: z.enum(dispatchStatuses).describe("The order's `dispatch_status`"),
    quantity: z.int().min(1).describe('Pieces'),
    unit_amount: amount('What the merchant charged for one piece, with VAT'),
    total_amount: amount('`unit_amount` times `quantity`'),
    vat_amount: amount("VAT inside `total_amount`, at the destination's standard rate, rounded half to even"),
    royalty_amount: amount(
      'The royalty: `royalty_rate` of `total_amount` without `vat_amount`, rounded half to even',
    ),
    royalty_rate: z.int().min(0).max(10_000).describe('In basis points: 1500 is 15 %'),
    product_type: z.string().describe('What was ordered, such as `vinyl_12_lp`'),
  })
  .meta({ id: 'OrderItem', description: 'A line of an order.', examples: [itemExample] });

export const orderDetailShape = z
  .object({
    ...head,
    totals: z
      .object({ royalty: amount("The creator's royalties of all lines") })
      .describe('What it comes to'),
    items: z.array(orderItemShape).describe('Its lines, in order'),
  })
  .meta({
    id: 'Order',
    description: 'An order with its lines, VAT and royalties.',
    examples: [{ ...headExample, totals: { royalty: 625 }, items: [itemExample] }],
  });
export type OrderDetail = z.infer<typeof orderDetailShape>;
