import { currencies } from '@fulfilment/contracts';
import { z } from 'zod';

/** A month of the calendar. */
export const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/;

const month = {
  period: z.string().regex(monthPattern).describe('The month, in UTC'),
  currency: z.enum(currencies).describe("Of every amount: the creator's settlement currency"),
};
const units = z.int().describe('Pieces sold less pieces given back; below 0 when more came back');

/** Sums are exact whatever their size (exact-integers.ts), so they have no bounds. */
const sum = (what: string) =>
  z.bigint().describe(`${what}, in minor units; below 0 when refunds outweigh the month's sales`);
const revenue = sum('What was sold, with VAT and without shipping');

export const salesShape = z
  .object({ ...month, totals: z.object({ units, revenue }).describe('Sums of the month') })
  .meta({
    id: 'SalesStatistics',
    description: "A creator's sales of a month.",
    examples: [{ period: '2026-11', currency: 'GBP', totals: { units: 6, revenue: 17994 } }],
  });
export type SalesView = z.infer<typeof salesShape>;

export const royaltiesShape = z
  .object({
    ...month,
    totals: z
      .object({ units, revenue, royalties: sum('Royalties') })
      .describe('Sums of the month, and of `by_release`'),
    by_release: z
      .array(
        z.object({
          release_group: z.string().describe('The release'),
          ean: z.string().describe('EAN of the products; empty for those without'),
          units,
          royalty_amount: sum('Royalties'),
        }),
      )
      .describe('By release and EAN, the highest royalties first'),
  })
  .meta({
    id: 'RoyaltyStatistics',
    description: "A creator's royalties of a month.",
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
