import { idShape, moneyShape } from '@fulfilment/contracts';
import { z } from 'zod';

const lineExample = {
  sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n',
  title: 'Quiet Machinery (12" LP)',
  quantity: 2,
  unit_cost: { amount: 2499, currency: 'GBP' as const },
  cost: { amount: 4998, currency: 'GBP' as const },
};
const line = z
  .object({
    sku: idShape('prod', 'The product'),
    title: z.string().describe('Title of the product'),
    quantity: z.int().min(1).max(1000).describe('Number of pieces'),
    unit_cost: moneyShape.describe('Catalogue price of one piece'),
    cost: moneyShape.describe('Catalogue price of all pieces of the line'),
  })
  .meta({ id: 'EstimatedLine', description: 'A line of an estimate.', examples: [lineExample] });

export const orderEstimateShape = z
  .object({
    line_items: z.array(line).min(1).max(100).describe('Lines of the order'),
    shipping: z
      .object({
        rate_id: idShape('rate', 'The quoted shipping rate'),
        amount: moneyShape.describe('Price of the shipping'),
      })
      .describe('Shipping of the order'),
    cost: moneyShape.describe('Amount that the creator would be charged: `billing.amount` of the order'),
    lead_time_days: z
      .int()
      .min(0)
      .describe('Days until all products are handed to the carrier: the longest `product_lead_time`'),
  })
  .meta({
    id: 'OrderEstimate',
    description: 'What an order would cost.',
    examples: [
      {
        line_items: [lineExample],
        shipping: {
          rate_id: 'rate_8KdEfAGQAAAAAHAAgAAAAAAAAAxHQkdCUAAAAAAAAAEdAAAD6GsBh8AQPlX6BGFalH2dE0OmbY3G',
          amount: { amount: 285, currency: 'GBP' as const },
        },
        cost: { amount: 5283, currency: 'GBP' as const },
        lead_time_days: 10,
      },
    ],
  });
export type OrderEstimate = z.infer<typeof orderEstimateShape>;
