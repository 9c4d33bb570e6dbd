import type { OperationDoc } from '@fulfilment/api-reference';
import { ValidationFailed } from '@fulfilment/error-envelope';
import { ledgerLinesShape } from './ledger-lines/ledger-lines.shapes.js';
import { seriesShape } from './series/series.shapes.js';
import { royaltiesShape, salesShape } from './statistics.shapes.js';
import { notVisible } from '../visibility/not-visible.js';

const tag = 'Statistics';
const errors = [notVisible('creator')];

export const invalidMonthRange = {
  when: '`from` is after `to`, or more than 35 months before it, or one of them is in the year 0000.',
  example: new ValidationFailed([{ field: 'from', reason: 'must not be after `to`' }]),
};

const monthOfPosting = [
  'A sale counts in the month (UTC) in which it was paid, a refund in the month in which it was made. Months close a few days after their end: what becomes known later counts in the first open month, so a',
  'closed month never changes. Amounts are in the settlement currency, converted at the reference rate of the European Central Bank of the day of the payment or, if there is none yet,',
  'at the newest of the six days before. A payment appears within 5 seconds, or as soon as there is such a rate.',
  'A month without payments and refunds, or in the future, has zeros.',
].join(' ');

export const readSales = {
  id: 'readSalesStatistics',
  tag,
  summary: 'Read the sales of a month',
  description: monthOfPosting,
  response: { description: 'The sales of the month.', shape: salesShape },
  errors,
} satisfies OperationDoc<typeof salesShape>;

export const readRoyalties = {
  id: 'readRoyaltyStatistics',
  tag,
  summary: 'Read the royalties of a month',
  description: monthOfPosting,
  response: { description: 'The royalties of the month.', shape: royaltiesShape },
  errors,
} satisfies OperationDoc<typeof royaltiesShape>;

export const readSeries = {
  id: 'readStatisticsSeries',
  tag,
  summary: 'Read sales and royalties of several months',
  description: [
    'Returns up to 36 months in one response, optionally filtered and grouped. The sums of a month are those of its sales and royalty statistics, from one snapshot.',
    'A group is a release, a product type, the country of the shipping address, the platform that orders name as their `source`, or the app that placed the orders.',
  ].join(' '),
  response: { description: 'The months of the range.', shape: seriesShape },
  errors: [...errors, invalidMonthRange],
} satisfies OperationDoc<typeof seriesShape>;

export const readLedgerLines = {
  id: 'readLedgerLines',
  tag,
  summary: 'Read the ledger lines behind a figure',
  description: [
    'Returns the postings of a month with their amounts before and after the conversion, the royalty rate and the exchange rate. `totals` are the figures of the statistics with the same filters; the `settled`',
    'amounts of the lines of all pages add up to them. The lines of a closed month never change; an open month may get more lines while you page through it.',
  ].join(' '),
  response: { description: 'A page of ledger lines.', shape: ledgerLinesShape },
  errors,
} satisfies OperationDoc<typeof ledgerLinesShape>;
