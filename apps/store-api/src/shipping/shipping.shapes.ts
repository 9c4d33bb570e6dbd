import { idShape, moneyShape } from '@fulfilment/contracts';
import { z } from 'zod';

const rateExample = {
  id: 'rate_8KdEfAGQAAAAAHAAgAAAAAAAAAxHQkdCUAAAAAAAAAEdAAAD6GsBh8AQPlX6BGFalH2dE0OmbY3G',
  name: 'Economy',
  carriers: ['Evri'],
  description: 'Three to five days',
  price: { amount: 285, currency: 'GBP' as const },
  delivery_days: { min: 3, max: 5 },
};
const rate = z
  .object({
    id: idShape('rate', 'The id of the quote; valid as `shipping_rate_id` of an order for 24 hours'),
    name: z.string().describe('Name of the shipping service'),
    carriers: z.array(z.string()).describe('Possible carriers'),
    description: z.string().nullable().describe('Description for the customer; null if there is none'),
    price: moneyShape.describe('Price of the shipping'),
    delivery_days: z
      .object({
        min: z.int().min(0).describe('Lowest number of days'),
        max: z.int().min(0).describe('Highest number of days'),
      })
      .nullable()
      .describe(
        'Working days from the hand-over to the carrier until the delivery; null if they are not known. Making the products takes their `product_lead_time` before that',
      ),
  })
  .meta({
    id: 'ShippingRate',
    description: 'Price of a shipping service for a parcel.',
    examples: [rateExample],
  });
export type ShippingRateView = z.infer<typeof rate>;
export const shippingRatesShape = z
  .object({ data: z.array(rate).describe('Shipping rates, cheapest first') })
  .meta({ examples: [{ data: [rateExample] }] });

const serviceExample = {
  id: 'svc_01j0000000e00800000000052g',
  name: 'Economy',
  description: 'Three to five days',
  regions: ['United Kingdom', 'Europe', 'Rest of the world'],
};
const service = z
  .object({
    id: idShape('svc', 'The id of the shipping service'),
    name: z.string().describe('Name of the shipping service'),
    description: z.string().nullable().describe('Description for the customer; null if there is none'),
    regions: z.array(z.string()).describe('Names of the regions that the service ships to'),
  })
  .meta({
    id: 'ShippingService',
    description: 'A shipping service.',
    examples: [serviceExample],
  });
export type ShippingServiceView = z.infer<typeof service>;
export const shippingServicesShape = z
  .object({ data: z.array(service).max(500).describe('Shipping services, in display order') })
  .meta({ examples: [{ data: [serviceExample] }] });
