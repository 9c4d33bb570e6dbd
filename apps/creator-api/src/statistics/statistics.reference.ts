import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound } from '@fulfilment/error-envelope';
import { royaltiesShape, salesShape } from './statistics.shapes.js';

const tag = 'Statistics';
const errors = [{ when: 'You see no such creator.', example: new NotFound('creator') }];

const booked = [
  'A sale is booked in the month of UTC in which it was paid, a refund in the month in which it was given back: earlier months never change. Amounts are in the',
  "settlement currency, converted at the European Central Bank's rate of the payment's day. A payment is here within 5 seconds; one without a rate yet waits for it. A month without",
  'any, or that has not come, is zeros.',
].join(' ');

export const readSales = {
  id: 'readSalesStatistics',
  tag,
  summary: "Read a month's sales",
  description: booked,
  answer: { description: 'The sales.', shape: salesShape },
  errors,
} satisfies OperationDoc<typeof salesShape>;

export const readRoyalties = {
  id: 'readRoyaltyStatistics',
  tag,
  summary: "Read a month's royalties",
  description: booked,
  answer: { description: 'The royalties.', shape: royaltiesShape },
  errors,
} satisfies OperationDoc<typeof royaltiesShape>;
