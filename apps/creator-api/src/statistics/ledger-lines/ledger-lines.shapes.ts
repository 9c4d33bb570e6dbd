import { currencies, cursorPageShape, idShape } from '@fulfilment/contracts';
import { z } from 'zod';
import { monthPattern, sums } from '../statistics.shapes.js';

const amount = (meaning: string) => z.bigint().describe(`${meaning}, in minor units; negative for a refund`);
const amounts = {
  revenue: amount('Sale including VAT'),
  vat: amount('VAT included in `revenue`'),
  royalty: amount('Royalty'),
};

const ledgerLineExample = {
  kind: 'sale' as const,
  order: '019a7f2e-a1b2-7c3d-8e4f-506172839405',
  human_order_id: 'ord_01k9zjx8dje1yrwkt0c5rr7502',
  item: '019a7f2e-a1b3-7001-9a2b-3c4d5e6f7081',
  occurred_at: '2026-11-20T10:15:31.000Z',
  release_group: '019a7f2e-0c11-7d22-8e33-4f5566778899',
  ean: '5060123450017',
  product_type: 'vinyl_12_lp',
  country: 'JP',
  platform: 'api',
  app: 'app_reader',
  units: 1,
  royalty_rate: 1500,
  original: { currency: 'JPY' as const, revenue: 4800, vat: 436, royalty: 655 },
  settled: { currency: 'GBP' as const, revenue: 2466, vat: 224, royalty: 337 },
  exchange_rate: { date: '2026-11-20', from: '162.43', to: '0.8345' },
};

const line = z
  .object({
    kind: z
      .enum(['sale', 'refund'])
      .describe('A refund is its sale with opposite signs, at the same exchange rate'),
    order: z.uuid().describe('The order'),
    human_order_id: idShape('ord', 'The id of the order in the Store API'),
    item: z.uuid().describe('The order line; a sale and its refund have the same id'),
    occurred_at: z.iso.datetime().describe('When the order was paid or refunded'),
    release_group: z.uuid().describe('The release'),
    ean: z.string().describe('EAN of the product; empty if it has none'),
    product_type: z.string().nullable().describe('Type of the product; null if it is not known'),
    country: z.string().nullable().describe('Country of the shipping address; null if it is not known'),
    platform: z
      .string()
      .nullable()
      .describe('Platform that the order names as its source; null if it is not known'),
    app: z
      .string()
      .nullable()
      .describe('`client_id` of the app that placed the order; null if it is not known'),
    units: z.int().describe('Number of pieces; negative for a refund'),
    royalty_rate: z
      .int()
      .nullable()
      .describe(
        'Royalty rate in basis points: the royalty is this share of `revenue` minus `vat`, rounded half to even. Null if it is not known',
      ),
    original: z
      .object({ currency: z.enum(currencies).describe('Currency of the order'), ...amounts })
      .describe('Amounts as charged, in the currency of the order'),
    settled: z
      .object({ currency: z.enum(currencies).describe('The settlement currency'), ...amounts })
      .describe(
        'The same amounts in the settlement currency, each rounded half to even. The statistics are sums of these',
      ),
    exchange_rate: z
      .object({
        date: z.iso.date().describe('The day of the rate, on or before the day of the payment'),
        from: z.string().describe('Units of the currency of the order per euro'),
        to: z.string().describe('Units of the settlement currency per euro'),
      })
      .nullable()
      .describe('Reference rates of the European Central Bank; null if the currencies are the same'),
  })
  .meta({ id: 'LedgerLine', description: 'A posting of the royalty ledger.', examples: [ledgerLineExample] });

export const ledgerLinesShape = z
  .object({
    period: z.string().regex(monthPattern).describe('The month in which the lines count'),
    currency: z.enum(currencies).describe('Currency of `totals`: the settlement currency of the creator'),
    totals: z.object(sums).describe('The sums of the lines of all pages, as in the statistics'),
    ...cursorPageShape(line, ledgerLineExample).shape,
  })
  .meta({
    id: 'LedgerLines',
    description: 'The postings behind the figures of a month.',
    examples: [
      {
        period: '2026-11',
        currency: 'GBP',
        totals: { units: 1, revenue: 2466, royalties: 337 },
        data: [ledgerLineExample],
        pagination: { next_cursor: null, has_more: false },
      },
    ],
  });
export type LedgerLinesView = z.infer<typeof ledgerLinesShape>;
