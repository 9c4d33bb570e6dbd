import { currencies } from '@fulfilment/contracts';
import { z } from 'zod';

/** A calendar month. */
export const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/;

const month = {
  period: z.string().regex(monthPattern).describe('The month, in UTC'),
  currency: z.enum(currencies).describe('Currency of all amounts: the settlement currency of the creator'),
};
const units = z
  .int()
  .describe('Pieces sold minus pieces refunded; negative if more pieces were refunded than sold');

/** Sums of any size are exact (exact-integers.interceptor.ts), so they have no bounds. */
const sum = (meaning: string) =>
  z.bigint().describe(`${meaning}, in minor units; negative if the refunds of the month exceed its sales`);
const revenue = sum('Sales including VAT and excluding shipping, minus refunds');
export const sums = { units, revenue, royalties: sum('Royalties') };

export const salesShape = z
  .object({ ...month, totals: z.object({ units, revenue }).describe('Totals of the month') })
  .meta({
    id: 'SalesStatistics',
    description: 'Sales of a creator in a month.',
    examples: [{ period: '2026-11', currency: 'GBP', totals: { units: 6, revenue: 17994 } }],
  });
export type SalesView = z.infer<typeof salesShape>;

export const royaltiesShape = z
  .object({
    ...month,
    totals: z.object(sums).describe('Totals of the month, summed over `by_release`'),
    by_release: z
      .array(
        z.object({
          release_group: z.string().describe('The release'),
          ean: z.string().describe('EAN of the products; empty for products without one'),
          units,
          royalty_amount: sum('Royalties'),
        }),
      )
      .describe('Totals by release and EAN, highest royalties first'),
  })
  .meta({
    id: 'RoyaltyStatistics',
    description: 'Royalties of a creator in a month.',
    examples: [
      {
        period: '2026-11',
        currency: 'GBP',
        totals: { units: 6, revenue: 17994, royalties: 2250 },
        by_release: [
          {
            release_group: '019a7f2e-0c11-7d22-8e33-4f5566778899',
            ean: '5060123450017',
            units: 6,
            royalty_amount: 2250,
          },
        ],
      },
    ],
  });
export type RoyaltiesView = z.infer<typeof royaltiesShape>;
