import { currencies } from '@fulfilment/contracts';
import { z } from 'zod';
import { maxMonths } from '../months.rules.js';
import { monthPattern, sums } from '../statistics.shapes.js';

/** Dimensions by which a series can be grouped. */
export const dimensions = ['release', 'product_type', 'country', 'platform', 'app'] as const;
export type Dimension = (typeof dimensions)[number];

/** A response names at most this many groups. */
export const maxGroups = 100;

const totals = { units: 6, revenue: 17994, royalties: 2250 };
const november = { period: '2026-11', ...totals };
const zeros = { units: 0, revenue: 0, royalties: 0 };

const monthSums = z
  .object({ period: z.string().regex(monthPattern).describe('The month, in UTC'), ...sums })
  .meta({
    id: 'MonthSums',
    description: 'Units, revenue and royalties of a month.',
    examples: [november],
  });
export type MonthSums = z.infer<typeof monthSums>;

const total = z.object(sums).describe('Sums over `months`');
export const seriesShape = z
  .object({
    from: z.string().regex(monthPattern).describe('The first month'),
    to: z.string().regex(monthPattern).describe('The last month'),
    currency: z.enum(currencies).describe('Currency of all amounts: the settlement currency of the creator'),
    totals: total,
    months: z
      .array(monthSums)
      .max(maxMonths)
      .describe('Each month of the range, in order, with zeros for a month without payments and refunds'),
    groups: z
      .array(
        z.object({
          key: z.string().describe('The release, product type, country, platform, or `client_id` of the app'),
          totals: total,
          months: z.array(monthSums).describe('The months with payments or refunds of the group, in order'),
        }),
      )
      .max(maxGroups)
      .nullable()
      .describe(
        'The 100 groups with the highest revenue in the range, the highest first; null without `group_by`',
      ),
    other: z
      .object({ totals: total, months: z.array(monthSums).describe('Each month of the range, in order') })
      .nullable()
      .describe(
        'What is in no group: further groups, and payments for which the value is unknown. Groups and `other` add up to `months`. Null without `group_by`',
      ),
  })
  .meta({
    id: 'StatisticsSeries',
    description: 'Sales and royalties of a creator over several months.',
    examples: [
      {
        from: '2026-11',
        to: '2026-11',
        currency: 'GBP',
        totals,
        months: [november],
        groups: [{ key: 'GB', totals, months: [november] }],
        other: { totals: zeros, months: [{ period: '2026-11', ...zeros }] },
      },
    ],
  });
export type SeriesView = z.infer<typeof seriesShape>;
